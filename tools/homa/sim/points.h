// Results that differ by their seed only, joined: a point of a sweep.
//
// Values; copy freely.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simulation/run_result.h"

namespace homa::tools::sim {

struct Point {
  simulation::RunSpec spec;  ///< with the seed of the first
  std::vector<simulation::RunResult> runs;

  /// A run found its backlog growing for good. When none did, it may be that some could not tell.
  bool diverges() const;
  /// Every run could tell that its backlog does not grow.
  bool is_sustained() const;
  /// Empty when all is well; else how a run ended, as a word for tables: "diverges", "cut short", "stopped".
  std::string trouble() const;
};

/// In the order in which they first occur.
std::vector<Point> join_seeds(const std::vector<simulation::RunResult>& results);

/// Mean over the seeds, with the 95 % interval that their spread gives. With one seed: its own estimate.
simulation::Estimate over_seeds(const Point& point,
                                const std::function<simulation::Estimate(const simulation::RunResult&)>& value);
/// The same for a plain number; with one seed there is no interval: low and high are the value.
simulation::Estimate number_over_seeds(const Point& point,
                                       const std::function<double(const simulation::RunResult&)>& value);

enum class Statistic : std::uint8_t { p50, p99 };
const char* to_string(Statistic statistic);
const simulation::Estimate& of(const simulation::SlowdownStatistics& slowdown, Statistic statistic);
/// Of the shortest half of messages, as published figures allow: the mean over their size buckets, weighted by count.
double of_shortest_half(const simulation::RunResult& result, Statistic statistic);

/// A size bucket joined over the seeds; it lies from .. to on the axis of cumulative count.
struct CurvePoint {
  double from = 0;
  double to = 0;
  std::uint64_t largest_bytes = 0;
  std::uint64_t count = 0;
  simulation::Estimate slowdown;
};
std::vector<CurvePoint> slowdown_curve(const Point& point, Statistic statistic);

/// "1.23", or with an interval "1.23 +-0.04".
std::string with_interval(const simulation::Estimate& estimate, int digits = 2);

}  // namespace homa::tools::sim
