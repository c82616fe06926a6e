#include "sim/points.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace homa::tools::sim {
namespace {

using simulation::Estimate;
using simulation::RunResult;

/// Student's t, two-sided 95 %, by degrees of freedom from 1 on; beyond the table the normal distribution does.
constexpr std::array kStudent95{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
                                2.228,  2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101};
constexpr double kNormal95 = 1.96;

Estimate spread_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const std::size_t freedom = values.size() - 1;
  const double t = freedom <= kStudent95.size() ? kStudent95[freedom - 1] : kNormal95;
  const double half = t * std::sqrt(squares / static_cast<double>(freedom) / n);
  return {mean, mean - half, mean + half};
}

}  // namespace

bool Point::diverges() const {
  return std::any_of(runs.begin(), runs.end(), [](const RunResult& run) {
    return run.end == simulation::RunEnd::diverged || run.backlog.verdict == simulation::LoadVerdict::diverges;
  });
}

bool Point::is_sustained() const {
  return std::all_of(runs.begin(), runs.end(), [](const RunResult& run) {
    return run.end != simulation::RunEnd::diverged && run.backlog.verdict == simulation::LoadVerdict::sustainable;
  });
}

std::string Point::trouble() const {
  if (diverges()) return "diverges";
  for (const RunResult& run : runs) {
    if (run.end == simulation::RunEnd::stopped) return "stopped";
    if (run.end == simulation::RunEnd::duration) return "cut short";
  }
  return {};
}

std::vector<Point> join_seeds(const std::vector<RunResult>& results) {
  std::vector<Point> points;
  std::vector<nlohmann::json> keys;
  for (const RunResult& result : results) {
    nlohmann::json key = simulation::to_json(result.spec);
    key.erase("seed");
    const auto found = std::find(keys.begin(), keys.end(), key);
    if (found == keys.end()) {
      keys.push_back(std::move(key));
      points.push_back({result.spec, {result}});
    } else {
      points[static_cast<std::size_t>(found - keys.begin())].runs.push_back(result);
    }
  }
  return points;
}

Estimate over_seeds(const Point& point, const std::function<Estimate(const RunResult&)>& value) {
  if (point.runs.size() == 1) return value(point.runs.front());
  std::vector<double> values;
  for (const RunResult& run : point.runs) values.push_back(value(run).value);
  return spread_of(values);
}

Estimate number_over_seeds(const Point& point, const std::function<double(const RunResult&)>& value) {
  return over_seeds(point, [&](const RunResult& run) {
    const double number = value(run);
    return Estimate{number, number, number};
  });
}

const char* to_string(Statistic statistic) {
  return statistic == Statistic::p50 ? "p50" : "p99";
}

const Estimate& of(const simulation::SlowdownStatistics& slowdown, Statistic statistic) {
  return statistic == Statistic::p50 ? slowdown.p50 : slowdown.p99;
}

double of_shortest_half(const RunResult& result, Statistic statistic) {
  double sum = 0;
  double count = 0;
  double share_before = 0;
  for (const simulation::SizeBucket& bucket : result.buckets) {
    if (share_before >= 0.5) break;
    share_before = bucket.count_fraction;
    sum += of(bucket.slowdown, statistic).value * static_cast<double>(bucket.slowdown.count);
    count += static_cast<double>(bucket.slowdown.count);
  }
  return count > 0 ? sum / count : 0;
}

std::vector<CurvePoint> slowdown_curve(const Point& point, Statistic statistic) {
  std::vector<CurvePoint> curve;
  double share_before = 0;
  for (std::size_t b = 0; b < point.runs.front().buckets.size(); ++b) {
    const simulation::SizeBucket& first = point.runs.front().buckets[b];
    CurvePoint at;
    at.from = share_before;
    at.to = first.count_fraction;
    at.largest_bytes = first.largest_bytes;
    share_before = first.count_fraction;
    Point filled;  // a bucket may be empty in a short run
    for (const RunResult& run : point.runs) {
      at.count += run.buckets[b].slowdown.count;
      if (run.buckets[b].slowdown.count > 0) filled.runs.push_back(run);
    }
    if (filled.runs.empty()) continue;
    at.slowdown = over_seeds(filled, [&](const RunResult& run) { return of(run.buckets[b].slowdown, statistic); });
    curve.push_back(at);
  }
  return curve;
}

std::string with_interval(const Estimate& estimate, int digits) {
  if (estimate.high <= estimate.low) return fmt::format("{:.{}f}", estimate.value, digits);
  return fmt::format("{:.{}f} +-{:.{}f}", estimate.value, digits, (estimate.high - estimate.low) / 2, digits);
}

}  // namespace homa::tools::sim
