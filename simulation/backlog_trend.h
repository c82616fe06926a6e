// Does the backlog grow? Samples at equal distances of time, and a line through the batch means of their second half.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/run_result.h"

namespace homa::simulation {

class BacklogTrend {
 public:
  void add(std::uint64_t bytes) { samples_.push_back(static_cast<double>(bytes)); }
  std::size_t count() const { return samples_.size(); }
  struct Setting {
    double interval_s = 0;    ///< distance of samples
    double offered = 0;       ///< bytes per second that are started
    double relaxation_s = 0;  ///< time in which a backlog forgets what it was
  };
  /// No verdict while the samples span less than a few relaxation times, or less than one if the growth is beyond
  /// doubt.
  Backlog judge(const Setting& setting) const;

 private:
  std::vector<double> samples_;
};

}  // namespace homa::simulation
