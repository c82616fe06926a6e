// A small fixed set of runs whose curves must stay in stored bands: a test of the simulator and the core together.
#include <fmt/format.h>

#include "failure.h"
#include "sim/experiments/all.h"
#include "sim/experiments/common.h"
#include "sim/run_directory.h"
#include "simulation/data_files.h"

namespace homa::tools::sim {
namespace {

std::vector<simulation::RunSpec> runs(const SweepOptions&) {
  struct Run {
    const char* workload;
    const char* carrier;
    std::uint64_t messages;
    double warm_up_us;  // short ones: the bands are of the same unripe queues
  };
  // As many messages as give each tenth of them a p99, and a few seconds of computing.
  constexpr Run kRuns[] = {{"w1", "native", 100000, 500},  {"w2", "native", 60000, 1000},
                           {"w3", "native", 40000, 2000},  {"w4", "native", 8000, 20000},
                           {"w5", "native", 1500, 20000},  {"w3", "datagram", 40000, 2000},
                           {"w4", "datagram", 8000, 20000}};
  std::vector<simulation::RunSpec> specs;
  for (const Run& run : kRuns) {
    simulation::RunSpec spec;
    spec.hosts = 48;
    spec.workload = run.workload;
    spec.carrier = carrier_of(run.carrier);
    spec.policy = spec.carrier == simulation::RunCarrier::native ? "homa18" : "libhoma";
    spec.load = spec.carrier == simulation::RunCarrier::native ? 0.8 : 0.6;
    spec.messages = run.messages;
    spec.warm_up_us = run.warm_up_us;
    spec.buckets = 10;
    specs.push_back(spec);
  }
  return specs;
}

std::string name_of(const simulation::RunSpec& spec) {
  return fmt::format("{}-{}-{}", spec.workload, simulation::to_string(spec.carrier), spec.policy);
}

double unfinished(const Point& point) {
  std::uint64_t count = 0;
  for (const auto& run : point.runs) count += run.messages_unfinished + run.messages_failed;
  return static_cast<double>(count);
}

void report(const std::vector<Point>& points, const Published&, Report& report) {
  report.is_test = true;
  Table table{"Curves against their bands (data/simulation/smoke_bands.json)",
              {"run", "buckets", "p50 in band", "p99 in band"},
              {}};
  const nlohmann::json bands = read_json(simulation::find_simulation_file("smoke_bands.json"));
  for (const Point& point : points) {
    const std::string name = name_of(point.spec);
    std::vector<std::string> row{name};
    for (const Statistic statistic : {Statistic::p50, Statistic::p99}) {
      const auto curve = slowdown_curve(point, statistic);
      if (row.size() == 1) row.push_back(std::to_string(curve.size()));
      std::size_t inside = 0;
      for (std::size_t b = 0; b < curve.size(); ++b) {
        const auto at = nlohmann::json::json_pointer(fmt::format("/runs/{}/{}/{}", name, to_string(statistic), b));
        if (!bands.contains(at))
          throw usage_failure(fmt::format("smoke_bands.json has no {}; make it anew", at.to_string()));
        const double low = bands.at(at).at("low").get<double>();
        const double high = bands.at(at).at("high").get<double>();
        report.check(fmt::format("{}, {} up to {} bytes", name, to_string(statistic), curve[b].largest_bytes),
                     curve[b].slowdown.value, low, high);
        if (report.checks.back().is_met) ++inside;
      }
      row.push_back(fmt::format("{} of {}", inside, curve.size()));
    }
    if (!point.trouble().empty()) report.remarks.push_back(fmt::format("{}: {}.", name, point.trouble()));
    report.check(name + ", messages unfinished or failed", unfinished(point), {}, 0.0);
    table.rows.push_back(row);
  }
  report.tables.push_back(table);
}

}  // namespace

Experiment smoke() {
  return {"smoke",
          "a few small runs whose curves must stay in stored bands: exit code 1 when one leaves its band",
          {.topology = false, .size = false},
          1,
          runs,
          report};
}

}  // namespace homa::tools::sim
