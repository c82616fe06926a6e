// Uplinks with half of the bandwidth of the hosts, and paths chosen by hash instead of per packet.
#include <fmt/format.h>

#include "sim/experiments/all.h"
#include "sim/experiments/common.h"

namespace homa::tools::sim {
namespace {

constexpr const char* kTopologies[] = {"homa18", "homa18-hashed", "homa18-oversubscribed",
                                       "homa18-oversubscribed-hashed"};

std::vector<simulation::RunSpec> runs(const SweepOptions& options) {
  std::vector<simulation::RunSpec> specs;
  for (const auto& spec : by_workload_and_load(options, {}, {0.3, 0.5}, {"w4"}, {"native", "datagram"})) {
    for (const char* topology : kTopologies) {
      specs.push_back(spec);
      specs.back().topology = topology;
    }
  }
  return specs;
}

void report(const std::vector<Point>& points, const Published&, Report& report) {
  Table table{"Slowdown of the shortest half and of all, and queues at uplinks",
              {"workload", "topology", "policy", "p50", "p99", "p99, all", "uplinks busy", "leaf up mean kB", "max",
               "spine down mean kB", "max", "dropped", ""},
              {}};
  for (const Point& point : points) {
    const auto mean = [&](auto function) { return number_over_seeds(point, function).value; };
    std::vector<std::string> row{fmt::format("{} {}", workload_name(point.spec), percent(point.spec.load)),
                                 point.spec.topology,
                                 policy_name(point.spec),
                                 half_cell(point, Statistic::p50),
                                 half_cell(point, Statistic::p99),
                                 all_cell(point, Statistic::p99),
                                 percent(mean([](const auto& run) { return port_of(run, "leaf_up").utilisation; }))};
    for (const char* kind : {"leaf_up", "spine_down"}) {
      row.push_back(fmt::format("{:.1f}", mean([=](const auto& run) { return port_of(run, kind).mean_bytes / 1000; })));
      row.push_back(fmt::format("{:.0f}", mean([=](const auto& run) { return port_of(run, kind).max_bytes / 1000; })));
    }
    row.push_back(
        fmt::format("{:.0f}", mean([](const auto& run) { return static_cast<double>(run.drops.full_buffers); })));
    row.push_back(point.trouble());
    table.rows.push_back(row);
  }
  report.tables.push_back(table);
}

}  // namespace

Experiment oversubscription() {
  return {"oversubscription",
          "uplinks oversubscribed 2:1, and one path per pair of hosts instead of packet spraying",
          {.workload = true, .load = true, .policy = true, .carrier = true, .topology = false},
          1,
          runs,
          report};
}

}  // namespace homa::tools::sim
