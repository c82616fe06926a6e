// Does traffic to an idle host suffer from traffic to a busy one? A and B saturate C; A also sends to D.
#include <algorithm>

#include <fmt/format.h>

#include "sim/experiments/all.h"
#include "sim/experiments/common.h"

namespace homa::tools::sim {
namespace {

/// "Keeps its share".
constexpr double kKeeps = 0.95;

std::vector<simulation::RunSpec> runs(const SweepOptions& options) {
  simulation::RunSpec base;
  base.generator = simulation::Generator::victim;
  base.load_kind = simulation::LoadKind::application;
  auto specs = by_workload_and_load(options, base, {0.3}, {"w3"}, {"native", "datagram"});
  for (simulation::RunSpec& spec : specs) spec.messages = std::min<std::uint64_t>(spec.messages, 20000);  // one sender
  return specs;
}

void report(const std::vector<Point>& points, const Published&, Report& report) {
  Table table{"A and B send to C without pause, A also sends to D: goodput, Gbit/s, and slowdown of A to D",
              {"workload", "policy", "A to C", "B to C", "A to D", "offered", "", "p50, all", "p99, all", ""},
              {}};
  for (const Point& point : points) {
    const auto flow = [&](const char* name) {
      return number_over_seeds(point, [&](const auto& run) { return flow_of(run, name).gbps; }).value;
    };
    // What the generator happened to offer: sizes have heavy tails.
    const double offered =
        number_over_seeds(point, [](const auto& run) { return flow_of(run, "A to D").offered_gbps; }).value;
    const std::string name = fmt::format("{} {}", workload_name(point.spec), percent(point.spec.load));
    const char* verdict =
        report.check(fmt::format("{}, {}: goodput from A to D over offered", name, policy_name(point.spec)),
                     flow("A to D") / offered, kKeeps, {});
    table.rows.push_back({name, policy_name(point.spec), fmt::format("{:.2f}", flow("A to C")),
                          fmt::format("{:.2f}", flow("B to C")), fmt::format("{:.2f}", flow("A to D")),
                          fmt::format("{:.2f}", offered), verdict, all_cell(point, Statistic::p50),
                          all_cell(point, Statistic::p99), point.trouble()});
  }
  report.tables.push_back(table);
}

}  // namespace

Experiment victim() {
  return {"victim",
          "A and B saturate C while A also sends to D behind the same switch: does D's traffic keep its share",
          {.workload = true, .load = true, .policy = true, .carrier = true},
          3,
          runs,
          report};
}

}  // namespace homa::tools::sim
