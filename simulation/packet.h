// A frame under way in the fabric: what switches look at, and the header bytes of the protocol. Payload has a length
// and no bytes, so that millions of them are cheap.
//
// Lives in a PacketPool; whoever holds the pointer passes it on or gives it back. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "base/bytes.h"
#include "base/time.h"
#include "base/units.h"

namespace homa::simulation {

struct Packet {
  Packet* next = nullptr;        ///< of the queue that holds it
  std::uint32_t wire_bytes = 0;  ///< with headers of all layers, preamble and gap
  std::uint32_t size = 0;        ///< what the protocol sees: its headers and payload
  std::uint32_t source = 0;      ///< number of a host
  std::uint32_t destination = 0;
  std::uint32_t header_size = 0;
  std::uint8_t queue = 0;  ///< strict priority in switches, the larger the sooner
  Ecn ecn = Ecn::not_ect;
  Priority priority{};
  Time tail{};  ///< cut-through: when its last byte can leave the switch that it is in

  /// Native headers and small frames fit; longer header blocks (many messages packed in one frame) spill.
  static constexpr std::size_t kInline = 88;
  std::array<std::byte, kInline> inline_header;
  std::vector<std::byte> long_header;  ///< its capacity survives reuse

  const std::byte* header() const { return header_size <= kInline ? inline_header.data() : long_header.data(); }
  void set_header(const std::byte* data, std::size_t count) {
    header_size = static_cast<std::uint32_t>(count);
    if (count <= kInline) {
      std::memcpy(inline_header.data(), data, count);
    } else {
      long_header.assign(data, data + count);
    }
  }
};

class PacketPool {
 public:
  /// What the last user left in it is still there.
  Packet* take() {
    ++live_;
    if (free_ == nullptr) return &storage_.emplace_back();
    Packet* packet = free_;
    free_ = packet->next;
    return packet;
  }
  void give(Packet* packet) {
    packet->next = free_;
    free_ = packet;
    --live_;
  }
  std::uint64_t live() const { return live_; }

 private:
  std::deque<Packet> storage_;
  Packet* free_ = nullptr;
  std::uint64_t live_ = 0;
};

}  // namespace homa::simulation
