// Does the backlog grow? Samples at equal distances of time, and a line through the batch means of their second half.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/run_result.h"

namespace homa::simulation {

class BacklogTrend {
 public:
  /// What the backlog was late in the warm-up; a backlog that only swings comes back to it.
  void add_before(std::uint64_t bytes) {
    before_sum_ += static_cast<double>(bytes);
    ++before_count_;
  }
  void add(std::uint64_t bytes) { samples_.push_back(static_cast<double>(bytes)); }
  std::size_t count() const { return samples_.size(); }
  struct Setting {
    double interval_s = 0;    ///< distance of samples
    double offered = 0;       ///< bytes per second that are started
    double relaxation_s = 0;  ///< time in which a backlog forgets what it was
    double size_bytes = 0;    ///< E[S^2] / E[S] of the messages: a second's bytes vary by the root of offered x this
  };
  /// No verdict while the samples span less than a few relaxation times, or less than one if the growth is beyond
  /// doubt; and none that it diverges while it is no larger than it was before.
  Backlog judge(const Setting& setting) const;

 private:
  bool is_larger_than_before() const;

  std::vector<double> samples_;
  double before_sum_ = 0;
  std::size_t before_count_ = 0;
};

}  // namespace homa::simulation
