#include "protocol/received_numbers.h"

#include <algorithm>

namespace homa::protocol {

bool ReceivedNumbers::seen(std::uint64_t number) const {
  if (number <= floor_) return true;
  if (number > newest_.last) return false;
  if (number >= newest_.first) return true;
  for (auto range = older_.rbegin(); range != older_.rend(); ++range) {
    if (number > range->last) return false;
    if (number >= range->first) return true;
  }
  return false;
}

void ReceivedNumbers::add(std::uint64_t number) {
  if (newest_.last == 0) {
    newest_ = {number, number, kReports};
    return;
  }
  if (number == newest_.last + 1) {
    newest_.last = number;
    return;
  }
  if (number > newest_.last) {
    older_.push_back(newest_);
    older_.back().reports_left = kReports;
    newest_ = {number, number, kReports};
    if (older_.size() >= kMaxRanges) {
      floor_ = older_.front().last;
      older_.erase(older_.begin());
    }
    return;
  }
  auto above = std::upper_bound(older_.begin(), older_.end(), number,
                                [](std::uint64_t value, const Range& range) { return value < range.first; });
  Range& upper = above == older_.end() ? newest_ : *above;
  Range* lower = above == older_.begin() ? nullptr : &*(above - 1);
  const bool joins_upper = upper.first == number + 1;
  const bool joins_lower = lower != nullptr && lower->last + 1 == number;
  if (joins_upper && joins_lower) {
    upper.first = lower->first;
    upper.reports_left = kReports;
    older_.erase(above - 1);
  } else if (joins_upper) {
    upper.first = number;
    upper.reports_left = kReports;
  } else if (joins_lower) {
    lower->last = number;
    lower->reports_left = kReports;
  } else if (older_.size() + 1 < kMaxRanges) {
    older_.insert(above, Range{number, number, kReports});
  } else {
    // No room for one more range: the oldest one melts into the floor.
    Range fresh{number, number, kReports};
    if (above == older_.begin()) {
      floor_ = std::max(floor_, number);
      return;
    }
    floor_ = older_.front().last;
    older_.insert(above, fresh);
    older_.erase(older_.begin());
  }
}

void ReceivedNumbers::report(wire::AckPacket& ack, std::size_t max_ranges) {
  max_ranges = std::min(max_ranges, wire::kMaxAckRanges);
  ack.largest = static_cast<std::uint32_t>(newest_.last);
  ack.ranges[0] = {0, static_cast<std::uint32_t>(newest_.last - newest_.first + 1)};
  ack.range_count = 1;
  std::uint64_t lowest = newest_.first;
  for (auto range = older_.rbegin(); range != older_.rend() && ack.range_count < max_ranges; ++range) {
    if (range->reports_left == 0) continue;
    // docs/wire.md section 3: an ACK reaches no farther. Only a peer that skips numbers gets there.
    if (newest_.last - range->first >= std::uint64_t{1} << 32) break;
    --range->reports_left;
    ack.ranges[ack.range_count++] = {static_cast<std::uint32_t>(lowest - range->last - 1),
                                     static_cast<std::uint32_t>(range->last - range->first + 1)};
    lowest = range->first;
  }
}

}  // namespace homa::protocol
