// Round-trip estimation, RFC 6298 section 2 with the acknowledgment delay taken out as in RFC 9002 section 5.3.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace homa::protocol {

class RttEstimator {
 public:
  bool has_sample() const { return smoothed_ != Duration::zero(); }
  Duration smoothed() const { return smoothed_; }
  Duration variance() const { return variance_; }
  /// Smallest round trip ever, acknowledgment delay included: what queues cannot inflate.
  Duration minimum() const { return minimum_; }
  Duration latest() const { return latest_; }

  /// `ack_delay` is what the peer says it waited; it never pushes a sample below the minimum.
  void sample(Duration round_trip, Duration ack_delay) {
    round_trip = std::max(round_trip, Duration(1));
    if (!has_sample()) {
      // The peer's delay counts at once here: a first minimum that contains 1 ms of waiting would stay for long.
      latest_ = std::max(round_trip - ack_delay, round_trip / 64);
      minimum_ = smoothed_ = latest_;
      variance_ = latest_ / 2;
      return;
    }
    latest_ = round_trip - ack_delay >= minimum_ ? round_trip - ack_delay : std::min(round_trip, minimum_);
    minimum_ = std::min(minimum_, latest_);
    const Duration error = smoothed_ > latest_ ? smoothed_ - latest_ : latest_ - smoothed_;
    variance_ = (3 * variance_ + error) / 4;
    smoothed_ = (7 * smoothed_ + latest_) / 8;
  }

 private:
  Duration smoothed_{0};
  Duration variance_{0};
  Duration minimum_{0};
  Duration latest_{0};
};

}  // namespace homa::protocol
