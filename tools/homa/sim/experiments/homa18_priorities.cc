// How many priority levels Homa needs: eight, four, two, one. As it was measured: echo RPCs between 16 machines behind
// one switch (SIGCOMM'18, section 5.1), for the paper's simulations do not vary it.
#include <fmt/format.h>

#include <map>

#include "sim/experiments/all.h"
#include "sim/experiments/common.h"
#include "sim/slowdown_figure.h"

namespace homa::tools::sim {
namespace {

std::vector<simulation::RunSpec> runs(const SweepOptions& options) {
  std::vector<simulation::RunSpec> specs;
  simulation::RunSpec base;
  base.buckets = 100;
  base.topology = "homa18-cluster";
  base.hosts = 16;
  base.generator = simulation::Generator::request_response;
  for (const auto& spec : by_workload_and_load(options, base, {0.76}, {"w3"}, {"native"})) {
    for (const std::uint32_t levels : {8u, 4u, 2u, 1u}) {
      specs.push_back(spec);
      specs.back().priority_levels = levels;
    }
  }
  return specs;
}

std::string label(const simulation::RunSpec& spec) {
  return fmt::format("{} {}, {}", workload_name(spec), percent(spec.load), policy_name(spec));
}

using ByLevels = std::map<std::uint32_t, const Point*>;

std::string level_name(std::uint32_t levels) {
  return fmt::format("{} level{}", levels, levels == 1 ? "" : "s");
}

std::optional<double> published_half(const Published& cluster, const simulation::RunSpec& spec, Statistic statistic) {
  return cluster.shortest_half("Homa " + level_name(spec.priority_levels), spec.workload, spec.load, statistic);
}

void judge(const std::string& name, const ByLevels& levels, const Published& published, const Published& cluster,
           Report& report) {
  if (levels.count(8) == 0 || levels.count(4) == 0 || levels.count(2) == 0 || levels.count(1) == 0) return;
  std::map<std::uint32_t, double> p99;
  for (const auto& [count, point] : levels) p99[count] = half_value(*point, Statistic::p99);
  // Seeds differ by a few per cent: an order within that is no order.
  constexpr double kAlike = 1.03;
  report.check(name + ", p99 with 8 over 4 levels", p99[8] / p99[4], {}, kAlike);
  report.check(name + ", p99 with 4 over 2 levels", p99[4] / p99[2], {}, kAlike);
  report.check(name + ", part of the gain that 2 levels give", (p99[1] - p99[2]) / (p99[1] - p99[8]), 0.5, {});
  // One queue outweighs what the machines' software adds, which is not modelled.
  constexpr double kNear = 0.15;
  const simulation::RunSpec& spec = levels.at(1)->spec;
  const auto one = published_half(cluster, spec, Statistic::p99);
  if (one) report.check(name + ", p99 with 1 level", p99[1], *one * (1 - kNear), *one * (1 + kNear));
  const std::string ratio = "/one_priority_over_eight/" + spec.workload;
  const auto least = published.number(ratio + "/least");
  if (least)
    report.check(name + ", p99 with 1 over 8 levels", p99[1] / p99[8], least, published.number(ratio + "/most"));
}

std::string published_cell(const Published& cluster, const simulation::RunSpec& spec, Statistic statistic) {
  const auto value = published_half(cluster, spec, statistic);
  return value ? fmt::format("{:.2f}", *value) : "";
}

void report(const std::vector<Point>& points, const Published& published, Report& report) {
  const Published cluster = Published::load_cluster();
  Table table{"Slowdown of the shortest half of RPCs by priority levels (published: measured on a cluster, SIGCOMM'18)",
              {"workload", "levels", "p50", "published", "p99", "published", "longest p99", ""},
              {}};
  std::map<std::string, ByLevels> groups;
  for (const Point& point : points) {
    const std::string name = label(point.spec);
    groups[name][point.spec.priority_levels] = &point;
    const auto curve = slowdown_curve(point, Statistic::p99);
    table.rows.push_back({name, std::to_string(point.spec.priority_levels), half_cell(point, Statistic::p50),
                          published_cell(cluster, point.spec, Statistic::p50), half_cell(point, Statistic::p99),
                          published_cell(cluster, point.spec, Statistic::p99),
                          curve.empty() ? "" : with_interval(curve.back().slowdown), point.trouble()});
  }
  report.tables.push_back(table);
  for (const auto& [name, levels] : groups) {
    judge(name, levels, published, cluster, report);
    std::vector<const Point*> members;
    std::vector<std::string> names;
    for (auto at = levels.rbegin(); at != levels.rend(); ++at) {
      members.push_back(at->second);
      names.push_back(level_name(at->first));
    }
    const simulation::RunSpec& spec = members.front()->spec;
    report.figures.push_back(slowdown_figure(fmt::format("priorities-{}-{:.0f}", workload_name(spec), spec.load * 100),
                                             name, members, names, cluster));
  }
}

}  // namespace

Experiment homa18_priorities() {
  return {"homa18-priorities",
          "echo RPCs with 8, 4, 2 and 1 priority levels, W3 at 76 % load on 16 hosts, as measured (SIGCOMM'18, section "
          "5.1)",
          {.workload = true, .load = true, .policy = true, .carrier = true},
          3,
          runs,
          report};
}

}  // namespace homa::tools::sim
