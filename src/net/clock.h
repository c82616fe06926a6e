// The clock of the real world, for src/runtime and the drivers. The protocol core never sees it.
#pragma once

#include <time.h>

#include "base/time.h"

namespace homa::net {

/// CLOCK_MONOTONIC: counts from boot, never steps. Any thread.
inline Time now() {
  timespec spec{};
  clock_gettime(CLOCK_MONOTONIC, &spec);
  return Time(std::chrono::seconds(spec.tv_sec) + std::chrono::nanoseconds(spec.tv_nsec));
}

}  // namespace homa::net
