// SIGCOMM'18, section 5.2: how much of the network's bandwidth each workload can use before its backlog grows.
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/experiments/all.h"
#include "sim/experiments/common.h"

namespace homa::tools::sim {
namespace {

/// Loads around those that were published, in steps of two per cent.
std::vector<double> usual_loads(const std::string& workload, bool one_at_a_time) {
  static const std::map<std::string, int> published_percent{{"w1", 92}, {"w2", 91}, {"w3", 90}, {"w4", 89}, {"w5", 87}};
  const auto known = published_percent.find(workload);
  const int middle = one_at_a_time ? 63 : known != published_percent.end() ? known->second : 90;
  const int step = one_at_a_time ? 4 : 2;
  std::vector<double> loads;
  for (int steps = -3; steps <= 3; ++steps) loads.push_back((middle + steps * step) / 100.0);
  return loads;
}

/// Published: W4 with one message granted at a time wastes a third of the bandwidth.
constexpr const char* kOneAtATime = "w4";
/// So long that a growth of one or two per cent stands out from the swings.
constexpr std::uint32_t kWatched = 10;
/// "Near": the paper reads its values off a curve.
constexpr double kNear = 0.03;

std::vector<simulation::RunSpec> runs(const SweepOptions& options) {
  std::vector<simulation::RunSpec> specs;
  for (const std::string& workload : or_default(options.workloads, all_workloads())) {
    for (const std::uint32_t overcommitment : {0u, 1u}) {
      if (overcommitment == 1 && workload != kOneAtATime) continue;
      for (const double load : or_default(options.loads, usual_loads(workload, overcommitment == 1))) {
        simulation::RunSpec base;
        base.workload = workload;
        base.load = load;
        base.overcommitment = overcommitment;
        base.messages = usual_messages(workload);
        base.watched_relaxations = kWatched;
        for (const auto& spec : by_policy(options, base, {"native"})) specs.push_back(spec);
      }
    }
  }
  return specs;
}

struct Series {
  std::string name;
  std::vector<const Point*> points;  // by load
};

std::vector<Series> series_of(const std::vector<Point>& points) {
  std::vector<Series> all;
  for (const Point& point : points) {
    std::string name = workload_name(point.spec) + ", " + policy_name(point.spec);
    if (point.spec.overcommitment != 0) name += fmt::format(", overcommitment {}", point.spec.overcommitment);
    auto found = std::find_if(all.begin(), all.end(), [&](const Series& series) { return series.name == name; });
    if (found == all.end()) found = all.insert(all.end(), {name, {}});
    found->points.push_back(&point);
  }
  for (Series& series : all) {
    std::sort(series.points.begin(), series.points.end(),
              [](const Point* a, const Point* b) { return a->spec.load < b->spec.load; });
  }
  return all;
}

/// How far the loads up to which every one was shown to be sustained reach, and where the first is that surely was not.
struct Limit {
  const Point* most_sustained = nullptr;
  const Point* least_diverging = nullptr;
};

Limit limit_of(const Series& series) {
  Limit limit;
  bool all_sustained = true;
  for (const Point* point : series.points) {
    all_sustained = all_sustained && point->is_sustained();
    if (all_sustained) limit.most_sustained = point;
    if (point->diverges() && limit.least_diverging == nullptr) limit.least_diverging = point;
  }
  return limit;
}

std::optional<double> target_of(const Point& point, const Published& published) {
  simulation::RunSpec spec = point.spec;
  const bool one_at_a_time = spec.overcommitment == 1;
  spec.overcommitment = 0;
  if (!is_homa18(spec)) return std::nullopt;
  return published.number((one_at_a_time ? "/most_load_overcommitment_1/" : "/most_load/") + spec.workload);
}

double slope(const simulation::RunResult& run) {
  return run.backlog.slope.value;
}

void add_row(const Series& series, const Published& published, Table& table, Report& report) {
  const Limit limit = limit_of(series);
  const Point* best = limit.most_sustained;
  const auto target = target_of(*series.points.front(), published);
  const double found = best != nullptr ? best->spec.load : 0;
  std::string verdict;
  if (target) verdict = report.check(series.name + ", highest load", found, *target - kNear, *target + kNear);
  std::string carried;
  if (best != nullptr) {
    carried = percent(number_over_seeds(*best, [](const auto& run) { return run.rates.link_utilisation; }).value, 1);
  }
  table.rows.push_back({series.name, best != nullptr ? percent(found) : "none",
                        limit.least_diverging != nullptr ? percent(limit.least_diverging->spec.load) : "none",
                        target ? percent(*target) : "", verdict, carried});
}

void report(const std::vector<Point>& points, const Published& published, Report& report) {
  Table highest{"Highest load that was sustained (published: Homa, SIGCOMM'18)",
                {"workload", "sustained", "diverges from", "published", "", "busy links"},
                {}};
  Table all{"Growth of the backlog, as a part of the bytes offered",
            {"workload", "load", "growth", "mean backlog MB", "verdict"},
            {}};
  Panel panel{"", "load on host links", "mean backlog (MB)", false, true, {}, 0, 0, {}};
  for (const Series& series : series_of(points)) {
    add_row(series, published, highest, report);
    Curve curve{series.name, CurveRole::ours, {}};
    for (const Point* point : series.points) {
      const auto backlog = number_over_seeds(*point, [](const auto& run) { return run.backlog.mean_bytes / 1e6; });
      curve.samples.push_back({point->spec.load, backlog.value, backlog.value, backlog.value});
      std::string verdict = point->trouble();
      if (verdict.empty()) verdict = point->is_sustained() ? "sustainable" : "unknown";
      all.rows.push_back({series.name, percent(point->spec.load),
                          fmt::format("{:+.2f} %", 100 * number_over_seeds(*point, slope).value),
                          with_interval(backlog), verdict});
    }
    panel.curves.push_back(curve);
  }
  report.tables.push_back(highest);
  report.tables.push_back(all);
  report.figures.push_back({"load", {panel}});
}

}  // namespace

Experiment homa18_load() {
  return {
      "homa18-load",
      "highest load that each workload sustains, and W4 with one message granted at a time (SIGCOMM'18, section 5.2)",
      {.workload = true, .load = true, .policy = true, .carrier = true},
      1,
      runs,
      report};
}

}  // namespace homa::tools::sim
