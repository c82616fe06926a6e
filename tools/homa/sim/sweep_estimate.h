// How much of a sweep is done, and how long the rest will take: runs weighed by what they are expected to cost.
//
// Pure: the time is an argument.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "simulation/run_spec.h"

namespace homa::tools::sim {

/// In frames sent, roughly: a weight among runs, no time.
double expected_cost(const simulation::RunSpec& spec);

class SweepEstimate {
 public:
  /// One weight per run, all above 0.
  explicit SweepEstimate(std::vector<double> weights);
  /// `part` of a run is done; never goes back.
  void progress(std::size_t run, double part);
  /// 0 .. 1
  double done() const;
  /// Nothing before enough is done to tell.
  std::optional<Duration> remaining(Duration elapsed) const;

 private:
  std::vector<double> weights_;
  std::vector<double> parts_;
};

/// "45 s", "12 min", "3 h 20 min".
std::string human_remaining(Duration remaining);

}  // namespace homa::tools::sim
