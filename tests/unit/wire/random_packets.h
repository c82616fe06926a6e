// Random legal packets and frames for property tests: edges (0, 1, largest) come up far more often than by chance.
#pragma once

#include "base/rng.h"
#include "wire_support.h"

namespace homa::wire::test {

/// Payload views of what it makes point into the generator.
class RandomPackets {
 public:
  explicit RandomPackets(std::uint64_t seed);

  DataPacket data();
  AckPacket ack();
  HelloPacket hello(bool is_ack);
  /// Any packet that may share a frame with others of its kind.
  Packet datagram_packet();
  /// A legal clear frame of 1..32 packets.
  void frame(Frame& frame);

  NativeHeader native_header(bool is_data);
  Packet native_packet();

  Rng& rng() { return rng_; }

 private:
  /// Uniform in the number of bits, with the edges 0 and 2^bits - 1 often.
  std::uint64_t number(int bits);
  template <typename Integer>
  Integer number();
  RpcId datagram_id() { return RpcId{number(48)}; }
  ByteView payload(std::size_t max);
  CutoffsPacket cutoffs();

  Rng rng_;
  Bytes pool_;
};

}  // namespace homa::wire::test
