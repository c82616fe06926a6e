// What a datagram carries, as a bit set: how fault knobs and checkers name packets.
#pragma once

#include <cstdint>
#include <string>

#include "wire/datagram.h"

namespace homa::sim {

/// One bit per kind of packet.
enum PacketKind : std::uint32_t {
  kData = 1u << 0,
  kDataFirst = 1u << 1,  ///< besides kData: offset 0
  kDataAgain = 1u << 2,  ///< besides kData: flagged as a retransmission
  kGrant = 1u << 3,
  kHold = 1u << 4,  ///< besides kGrant
  kAck = 1u << 5,
  kHello = 1u << 6,
  kHelloAck = 1u << 7,
  kNoAssociation = 1u << 8,
  kClose = 1u << 9,
  kPing = 1u << 10,
  kMtuProbe = 1u << 11,
  kCrypto = 1u << 12,
  kCutoffs = 1u << 13,
  kAbort = 1u << 14,
  kAborted = 1u << 15,
  kRelease = 1u << 16,
  kUnreadable = 1u << 31,  ///< the codec refused it
};
inline constexpr std::uint32_t kAnyKind = 0xffffffff;

std::uint32_t kinds_of(const wire::Packet& packet);
/// The kinds of all packets of a decoded frame.
std::uint32_t kinds_of(const wire::Frame& frame);

/// One line for a human: lane, number, destination, then each packet.
std::string describe(const wire::Frame& frame);
/// Decode first; say so when the codec refuses.
std::string describe(ByteView datagram);
std::string describe_native(ByteView packet);

}  // namespace homa::sim
