// How fast the local NIC takes bytes, and when it may have more: keeps its queue short, so that shortest-first is
// decided here and not there (ATC'21 section 5: the NIC's queue is the one that no receiver controls).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"

namespace homa::protocol {

/// Largest of the samples of the last one to two periods. A windowed maximum, since a sample can only be too low:
/// the sender may have had nothing to send in part of it.
class RateEstimate {
 public:
  explicit RateEstimate(Rate fixed) : fixed_(fixed) {}
  Rate rate() const { return fixed_.known() ? fixed_ : std::max(current_, previous_); }
  bool is_fixed() const { return fixed_.known(); }
  void sample(Rate rate, Time now) {
    if (now - period_start_ >= kPeriod) {
      previous_ = now - period_start_ >= 2 * kPeriod ? Rate() : current_;
      current_ = Rate();
      period_start_ = now;
    }
    current_ = std::max(current_, rate);
  }

 private:
  static constexpr Duration kPeriod = 1s;
  Rate fixed_;
  Rate current_;
  Rate previous_;
  Time period_start_{};
};

class Uplink {
 public:
  Uplink(Rate fixed, Duration budget) : rate_(fixed), budget_(budget) {}

  /// Earliest time for the next train of data; in the past when it may go now.
  Time next_start() const { return rate_.rate().known() ? free_at_ - budget_ : hold_until_; }
  /// Bytes that one train may have: the budget at the measured rate, at least `floor`.
  std::uint64_t train_bytes(std::uint64_t floor, std::uint64_t ceiling) const {
    if (!rate_.rate().known()) return ceiling;
    return std::clamp(rate_.rate().bytes_in(budget_), std::min(floor, ceiling), ceiling);
  }
  void sent(std::uint64_t bytes, Time now) {
    if (rate_.rate().known()) free_at_ = std::max(free_at_, now) + rate_.rate().time_for(bytes);
  }
  void drained(std::uint64_t bytes, Duration duration, Time now) { rate_.sample(Rate::of(bytes, duration), now); }
  /// The driver sees `bytes` still queued.
  void backlog(std::uint64_t bytes, Time now) {
    if (rate_.rate().known()) {
      free_at_ = now + rate_.rate().time_for(bytes);  // the driver knows better than our own reckoning
    } else if (bytes > kUnknownRateBacklog) {
      hold_until_ = now + kUnknownRateHold;
    }
  }
  Rate rate() const { return rate_.rate(); }

 private:
  static constexpr std::uint64_t kUnknownRateBacklog = 256 * 1024;
  static constexpr Duration kUnknownRateHold = 50us;
  RateEstimate rate_;
  Duration budget_;
  Time free_at_{};
  Time hold_until_{};
};

}  // namespace homa::protocol
