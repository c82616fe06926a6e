// Table 1 of SIGCOMM'18: queues in the switches at 80 % load.
#include <algorithm>

#include <fmt/format.h>

#include "sim/experiments/all.h"
#include "sim/experiments/common.h"

namespace homa::tools::sim {
namespace {

/// "Of the order of": within a factor of two.
constexpr double kFactor = 2;
constexpr const char* kKinds[] = {"leaf_up", "spine_down", "host_down"};

std::vector<simulation::RunSpec> runs(const SweepOptions& options) {
  return by_workload_and_load(options, {}, {0.8}, all_workloads(), {"native"});
}

double mean_kb(const simulation::RunResult& run, const std::string& kind) {
  return port_of(run, kind).mean_bytes / 1000;
}
double max_kb(const simulation::RunResult& run, const std::string& kind) {
  return port_of(run, kind).max_bytes / 1000;
}

/// A cell for the published value and one for the verdict.
void add_target(Report& report, const Point& point, const Published& published, const std::string& statistic,
                double value, std::vector<std::string>& row) {
  const auto target = published.number("/host_port_queue_bytes/" + point.spec.workload + "/" + statistic);
  if (!target || !is_homa18(point.spec) || point.spec.load != 0.8) {
    row.insert(row.end(), {"", ""});
    return;
  }
  const double kilobytes = *target / 1000;
  row.push_back(fmt::format("{:.0f}", kilobytes));
  row.push_back(report.check(fmt::format("{}, queue to the host, {} kB", point.spec.workload, statistic), value,
                             kilobytes / kFactor, kilobytes * kFactor));
}

void report(const std::vector<Point>& points, const Published& published, Report& report) {
  Table table{
      "Queues at switch ports, kB: mean over time and ports, and maximum (published: Homa, SIGCOMM'18, to the host)",
      {"workload", "policy", "leaf up mean", "max", "spine down mean", "max", "to host mean", "published", "", "max",
       "published", "", ""},
      {}};
  Panel means{"mean", "workload", "queue (kB)", false, true, {}, 0.5, 0, {}};
  Panel maxima{"maximum", "workload", "queue (kB)", false, true, {}, 0.5, 0, {}};
  for (const char* kind : kKinds) {
    means.curves.push_back({kind, CurveRole::ours, {}});
    maxima.curves.push_back({kind, CurveRole::ours, {}});
  }
  double position = 0;
  for (const Point& point : points) {
    position += 1;
    std::vector<std::string> row{fmt::format("{} {}", workload_name(point.spec), percent(point.spec.load)),
                                 policy_name(point.spec)};
    for (std::size_t k = 0; k < std::size(kKinds); ++k) {
      const std::string kind = kKinds[k];
      const auto mean = number_over_seeds(point, [&](const auto& run) { return mean_kb(run, kind); });
      double maximum = 0;
      for (const auto& run : point.runs) maximum = std::max(maximum, max_kb(run, kind));
      const bool is_host_port = kind == std::string("host_down");
      row.push_back(with_interval(mean, 1));
      if (is_host_port) add_target(report, point, published, "mean", mean.value, row);
      row.push_back(fmt::format("{:.0f}", maximum));
      if (is_host_port) add_target(report, point, published, "max", maximum, row);
      means.curves[k].samples.push_back({position, mean.value, mean.low, mean.high});
      maxima.curves[k].samples.push_back({position, maximum, maximum, maximum});
    }
    row.push_back(point.trouble());
    table.rows.push_back(row);
    for (Panel* panel : {&means, &maxima}) panel->ticks.push_back({position, workload_name(point.spec)});
  }
  means.x_max = maxima.x_max = position + 0.5;
  report.tables.push_back(table);
  report.figures.push_back({"queues", {means, maxima}});
}

}  // namespace

Experiment homa18_queues() {
  return {"homa18-queues",
          "queues at the ports of switches at 80 % load (SIGCOMM'18, table 1)",
          {.workload = true, .load = true, .policy = true, .carrier = true},
          3,
          runs,
          report};
}

}  // namespace homa::tools::sim
