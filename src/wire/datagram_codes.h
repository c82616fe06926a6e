// Codes and flag bits of datagram frames, for both halves of the codec only (docs/wire.md sections 2 and 3).
#pragma once

#include <cstdint>

#include "wire/datagram.h"

namespace homa::wire {

// docs/wire.md section 2, byte 0.
inline constexpr std::uint8_t kFormAndVersion = 0x80 | (kVersion << 4);
inline constexpr std::uint8_t kFormAndVersionMask = 0xf0;
inline constexpr std::uint8_t kReservedFormBit = 0x08;
inline constexpr std::uint8_t kSealedBit = 0x04;
inline constexpr std::uint8_t kKeyPhaseBit = 0x02;
inline constexpr std::uint8_t kReversedBit = 0x01;
inline constexpr std::uint8_t kLaneReservedBits = 0xf8;  // path bits too, while there is one path

// docs/wire.md section 3.
inline constexpr std::uint8_t kDataFirstFlag = 0x01;
inline constexpr std::uint8_t kDataRetransmissionFlag = 0x02;
inline constexpr std::uint8_t kGrantHoldFlag = 0x01;
inline constexpr std::uint8_t kCallFlags = kCallOneWay | kCallIdempotent;
inline constexpr std::uint16_t kNoLimitOnWire = 0xffff;

enum class PacketType : std::uint8_t {
  hello = 0x01,
  hello_ack = 0x02,
  no_association = 0x03,
  close = 0x04,
  ping = 0x05,
  mtu_probe = 0x06,
  crypto = 0x07,
  ack = 0x08,
  data = 0x10,
  grant = 0x11,
  cutoffs = 0x12,
  abort = 0x13,
  aborted = 0x14,
  release = 0x15,
};

}  // namespace homa::wire
