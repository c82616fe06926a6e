// Offers calls to a peer, closed loop (so many outstanding) or open loop (Poisson arrivals), and times them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "bench/peer.h"
#include "histogram.h"
#include "simulation/workload.h"

namespace homa::tools {

struct LoadSettings {
  simulation::Workload sizes = simulation::Workload::fixed(100);
  std::uint32_t outstanding = 1;  ///< closed loop: calls under way; open loop: at most so many, the rest queue
  double rate = 0;                ///< calls per second of an open loop; 0: closed loop
  /// Other calls of one size that are always under way beside the measured ones; not counted in their latency.
  std::uint32_t background = 0;
  std::uint64_t background_size = 0;
  Duration duration = 5s;
  std::uint64_t count = 0;  ///< stop after so many calls; 0: by time only
  Duration drain = 1s;      ///< after the end, calls under way may still finish; then they count as unfinished
  std::uint64_t seed = 1;
  bool by_size = false;  ///< measure unloaded latency first, report slowdown by size
};

/// Calls of sizes up to `up_to`: one tenth of all calls per bucket.
struct SizeBucket {
  std::uint64_t up_to = 0;
  Histogram latency;
  Histogram slowdown_permille;  ///< latency / unloaded latency of that size, x 1000
};

struct LoadResult {
  Histogram latency;  ///< from the moment that the call was due, so a stalled peer is not excused
  std::vector<SizeBucket> buckets;
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  std::uint64_t unfinished = 0;     ///< without an answer when `drain` was over
  std::uint64_t request_bytes = 0;  ///< of counted calls
  std::uint64_t background_bytes = 0;
  Histogram background_latency;
  Duration elapsed{};
  void merge(const LoadResult& other);
};

/// Latency of calls of one size on an idle connection: piecewise linear between measured sizes.
class UnloadedLatency {
 public:
  void add(std::uint64_t size, Duration latency) { points_.push_back({size, latency}); }
  bool empty() const { return points_.empty(); }
  double at(std::uint64_t size) const;  ///< ns

 private:
  struct Point {
    std::uint64_t size;
    Duration latency;
  };
  std::vector<Point> points_;  // ascending by size
};

/// Calls one after the other, the fastest of several per size, for the sizes at the borders of the ten buckets.
UnloadedLatency measure_unloaded(Peer& peer, const LoadSettings& settings);

/// Runs on the calling thread. `tick` is called about ten times a second with the number of calls so far. Stops early
/// when `stop` is set.
LoadResult run_load(Peer& peer, const LoadSettings& settings, const UnloadedLatency& unloaded,
                    const std::atomic<bool>& stop, const std::function<void(std::uint64_t)>& tick);

}  // namespace homa::tools
