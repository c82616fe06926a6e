// Somebody who sends anything and never uses an id that was told to it: its address stays unproven.
#pragma once

#include <cstdint>
#include <set>

#include "core_host.h"
#include "wire/datagram.h"

namespace homa::fuzz {

/// Counts what goes to and fro. No more than thrice its bytes, and no more datagrams than it sent, may come back.
class Stranger {
 public:
  const Address address{HostAddress::v4(10, 9, 9, 9), 666};

  void sends(ByteView bytes) {
    wire::FrameHeader header;
    if (wire::decode_frame_header(bytes, header) == wire::DecodeError::none) {
      if (told_.count(without_shards(header.destination)) > 0) proven_ = true;  // it guessed
    }
    bytes_out_ += bytes.size;
    ++datagrams_out_;
  }
  void receives(const wire::Frame& frame, std::size_t bytes) {
    bytes_in_ += bytes;
    ++datagrams_in_;
    for (std::size_t i = 0; i < frame.packet_count; ++i) {
      if (const auto* hello = std::get_if<wire::HelloPacket>(&frame.packets[i])) {
        told_.insert(without_shards(hello->source));
      }
    }
    FUZZ_CHECK(proven_ || bytes_in_ <= 3 * bytes_out_);
    FUZZ_CHECK(proven_ || datagrams_in_ <= datagrams_out_);
  }

 private:
  static std::uint64_t without_shards(wire::AssociationId id) { return id.value & 0xff00ffffffffffffULL; }

  std::set<std::uint64_t> told_;  // ids that the hosts chose for it
  bool proven_ = false;
  std::uint64_t bytes_out_ = 0;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t datagrams_out_ = 0;
  std::uint64_t datagrams_in_ = 0;
};

}  // namespace homa::fuzz
