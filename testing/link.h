// A link: bits leave at a rate and arrive after a delay.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace homa::sim {

/// Bytes that each datagram costs on an Ethernet besides its UDP payload: preamble and gap 20, Ethernet header and
/// checksum 18, IPv4 20, UDP 8.
inline constexpr std::uint32_t kWireOverhead = 66;

struct LinkSettings {
  Rate rate = Rate::gigabits_per_second(10);
  Duration delay = 1us;  ///< propagation
  std::uint32_t overhead = kWireOverhead;
};

/// Counts serialization time without drift: parts of a nanosecond are carried over to the next packet.
class SerializationClock {
 public:
  explicit SerializationClock(Rate rate) : bytes_per_second_(rate.bytes_per_second()) {}
  /// Time that `bytes` occupy the link when they follow the packet before without a gap.
  Duration next(std::uint64_t bytes) {
    const unsigned __int128 total = static_cast<unsigned __int128>(bytes) * 1'000'000'000u + remainder_;
    remainder_ = static_cast<std::uint64_t>(total % bytes_per_second_);
    return Duration(static_cast<Duration::rep>(total / bytes_per_second_));
  }
  /// The link fell silent: what was left of a nanosecond is forgotten.
  void idle() { remainder_ = 0; }

 private:
  std::uint64_t bytes_per_second_;
  std::uint64_t remainder_ = 0;  // in byte-nanoseconds per second
};

}  // namespace homa::sim
