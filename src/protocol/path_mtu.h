// Packet size of one path: starts at what passes nearly everywhere, probes upward, finds black holes (RFC 8899).
#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"
#include "protocol/config.h"

namespace homa::protocol {

/// Sizes are UDP payloads. States: searching (a larger size is worth a probe), complete (wait for the raise timer).
/// No timer of its own: it is asked whenever data flows, so an idle path costs nothing.
class PathMtu {
 public:
  explicit PathMtu(const Config& config);

  std::uint16_t datagram_size() const { return size_; }
  /// The peer says how much it takes.
  void limit(std::uint16_t max_datagram);

  /// Size of the probe to send now, or 0. One probe is outstanding at a time; it is sent only on a path that works:
  /// `delivered` datagrams were acknowledged since the last change of size.
  std::uint16_t next_probe(Time now);
  void probe_acknowledged(std::uint16_t size, Time now);
  void probe_lost(std::uint16_t size, Time now);
  /// The system refused a datagram of this size (EMSGSIZE). True when the size shrank.
  bool too_big(std::uint16_t size, Time now);

  /// A datagram of this size, sent at `sent`, was acknowledged. True when small ones arrive while big ones vanish: a
  /// black hole, and the size shrank.
  bool delivered(std::uint16_t size, Time sent, Time now);
  /// A datagram of this size was declared lost.
  /// Counts unless a big one that was sent later arrived: then it was a burst, not a hole.
  void lost(std::uint16_t size, Time sent);
  /// Big datagrams are missing in a row: small ones should be sent too, to tell a black hole from an outage.
  bool suspicious() const { return big_losses_ >= kBlackHoleLosses; }

 private:
  static constexpr std::uint8_t kMaxProbes = 3;         // RFC 8899 MAX_PROBES
  static constexpr std::uint16_t kBlackHoleLosses = 6;  // full-size losses in a row, none delivered between
  static constexpr std::uint8_t kSmallDeliveries = 3;   // ... while so many small ones arrived
  static constexpr std::uint32_t kSettled = 64;         // deliveries that make a path worth probing
  std::uint16_t candidate_above(std::uint16_t size) const;

  std::uint16_t size_;
  std::uint16_t base_;
  std::uint16_t ceiling_;
  std::uint16_t probing_ = 0;          // size of the outstanding probe
  Time newest_big_delivery_{};         // when the newest big datagram that arrived was sent
  std::uint16_t big_losses_ = 0;       // in a row
  std::uint8_t small_deliveries_ = 0;  // since the last big one
  std::uint8_t probe_losses_ = 0;
  std::uint32_t deliveries_ = 0;
  Duration raise_interval_;
  Time raise_at_{};  // no probes before
};

}  // namespace homa::protocol
