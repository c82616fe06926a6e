// Does the backlog grow? Samples at equal distances of time, and a line through their batch means.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/run_result.h"

namespace homa::simulation {

class BacklogTrend {
 public:
  void add(std::uint64_t bytes) { samples_.push_back(static_cast<double>(bytes)); }
  std::size_t count() const { return samples_.size(); }
  /// `interval_s` is the distance of samples, `offered` the bytes per second that are started.
  Backlog judge(double interval_s, double offered) const;

 private:
  std::vector<double> samples_;
};

}  // namespace homa::simulation
