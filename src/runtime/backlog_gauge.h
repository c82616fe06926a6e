// Measures the rate of the uplink from the bytes that wait below the socket.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace homa::runtime {

/// SIOCOUTQ counts the kernel's bookkeeping (truesize), one to three times the payload, so single differences of it say
/// little. Over a longer time in which the queue never ran empty, what left is what was sent, up to the small change of
/// the queue. Not thread-safe.
class BacklogGauge {
 public:
  /// Payload bytes behind so many bytes of truesize, roughly: full packets of 1500 bytes count 2304.
  static std::uint64_t payload_of(std::uint64_t truesize) { return truesize / 2; }

  void sent(std::uint64_t bytes) { sent_ += bytes; }

  /// Looks at the queue; true when `drained` and `elapsed` hold a sample of the rate.
  bool sample(std::uint64_t truesize, Time now) {
    const bool unbroken = running_ && truesize > 0 && now - last_look_ <= kLongestGap;
    last_look_ = now;
    if (!unbroken) {
      running_ = truesize > 0;
      restart(truesize, now);
      return false;
    }
    elapsed_ = now - start_;
    if (elapsed_ < kWindow) return false;
    const std::uint64_t had = sent_ + payload_of(start_truesize_);
    drained_ = had > payload_of(truesize) ? had - payload_of(truesize) : 0;
    restart(truesize, now);
    return drained_ > 0;
  }
  std::uint64_t drained() const { return drained_; }
  Duration elapsed() const { return elapsed_; }

 private:
  static constexpr Duration kWindow = 1ms;
  static constexpr Duration kLongestGap = 300us;  // longer unwatched, the queue may have run empty
  void restart(std::uint64_t truesize, Time now) {
    start_ = now;
    start_truesize_ = truesize;
    sent_ = 0;
  }
  bool running_ = false;
  Time start_{};
  Time last_look_{};
  std::uint64_t start_truesize_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t drained_ = 0;
  Duration elapsed_{};
};

}  // namespace homa::runtime
