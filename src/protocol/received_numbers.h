// Which packet numbers of a lane have arrived: refuses duplicates exactly and builds acknowledgments.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wire/packet.h"

namespace homa::protocol {

/// Bounded: at most kMaxRanges ranges are known; older numbers count as seen (a packet so late is dropped, and its
/// content comes again under a new number). Not thread-safe.
class ReceivedNumbers {
 public:
  static constexpr std::size_t kMaxRanges = wire::kMaxAckRanges;
  /// A range is reported in so many acknowledgments after it last changed: losing all of them costs one needless
  /// retransmission, repeating old ranges for ever would cost more.
  static constexpr std::uint8_t kReports = 4;

  std::uint64_t largest() const { return newest_.last; }
  bool seen(std::uint64_t number) const;
  /// Precondition: !seen(number).
  void add(std::uint64_t number);
  /// Everything up to `largest` counts as seen.
  void restore(std::uint64_t largest) {
    floor_ = largest;
    newest_ = {largest, largest, 0};
  }
  /// True when numbers are missing just below the largest.
  bool has_recent_gap() const { return !older_.empty() && older_.back().reports_left > 0; }
  /// Fills range_count and ranges, newest first, and largest. Precondition: something was received.
  void report(wire::AckPacket& ack, std::size_t max_ranges);
  std::size_t memory_bytes() const { return older_.capacity() * sizeof(Range); }

 private:
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // closed
    std::uint8_t reports_left = 0;
  };
  std::uint64_t floor_ = 0;   // every number up to here counts as seen
  Range newest_;              // holds the largest number; {0, 0} before the first arrival
  std::vector<Range> older_;  // ascending, disjoint, not adjacent, all below newest_
};

}  // namespace homa::protocol
