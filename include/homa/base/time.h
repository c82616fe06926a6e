// The one notion of time in libhoma.
//
// A Time is a count of nanoseconds since an epoch that the owner of the clock chooses (boot for the runtime, the
// start of the world for the simulator); only differences mean anything. Nothing below src/runtime reads a clock:
// every entry point takes `now`.
#pragma once

#include <chrono>

namespace homa {

using Duration = std::chrono::nanoseconds;

/// Tag that keeps our time points apart from those of the standard clocks. It has no now() on purpose.
struct ClockTag {
  using duration = Duration;
  using rep = Duration::rep;
  using period = Duration::period;
  using time_point = std::chrono::time_point<ClockTag>;
  static constexpr bool is_steady = true;
};

using Time = std::chrono::time_point<ClockTag, Duration>;

/// Later than every time that can occur: "no deadline".
inline constexpr Time kNever = Time::max();

using namespace std::chrono_literals;  // NOLINT(google-global-names-in-headers): 10us reads better than any spelling

}  // namespace homa
