// From the options of the public API to the settings of the runtime, checked.
//
// Pure functions.
#pragma once

#include "homa/error.h"
#include "homa/options.h"
#include "runtime/shard_group.h"

namespace homa::api {

/// Errors: bad_option; the detail names the option and what it may be.
Result<runtime::GroupSettings> configure(const ClientOptions& options);
Result<runtime::GroupSettings> configure(const ServerOptions& options);

/// The deadline on the protocol's clock. Both count CLOCK_MONOTONIC.
inline Time to_time(Clock::time_point point) {
  return point == Clock::time_point::max() ? kNever
                                           : Time(std::chrono::duration_cast<Duration>(point.time_since_epoch()));
}
inline Clock::time_point to_time_point(Time time) {
  return time == kNever ? Clock::time_point::max()
                        : Clock::time_point(std::chrono::duration_cast<Clock::duration>(time.time_since_epoch()));
}

}  // namespace homa::api
