// Collects slowdowns and latencies of messages, and makes statistics of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "simulation/run_result.h"
#include "simulation/workload.h"

namespace homa::simulation {

class Recorder {
 public:
  Recorder(const Workload& workload, std::uint32_t buckets);

  void add(std::uint64_t length, Duration latency, Duration unloaded);
  std::uint64_t count() const { return samples_.size(); }
  /// Fills buckets, largest, all, shortest_half, latency and shortest_latency.
  void report(RunResult& result) const;

 private:
  struct Sample {
    std::uint64_t length;
    float slowdown;
    float latency_us;
  };
  SizeBucket bucket(std::uint64_t least, std::uint64_t most) const;
  std::vector<float> slowdowns(std::uint64_t least, std::uint64_t most) const;
  LatencyPercentiles latencies(std::uint64_t most) const;

  const Workload& workload_;
  std::vector<std::uint64_t> bounds_;  // upper, ascending
  std::vector<Sample> samples_;        // in order of delivery
};

/// `samples` in order of time. Intervals are as SlowdownStatistics says; of fewer than 2 samples they are the value
/// itself.
SlowdownStatistics statistics_of(const std::vector<float>& samples);

}  // namespace homa::simulation
