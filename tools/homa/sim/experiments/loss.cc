// Frames lost at random: what goodput and tail latency remain.
#include <fmt/format.h>

#include <map>

#include "sim/experiments/all.h"
#include "sim/experiments/common.h"

namespace homa::tools::sim {
namespace {

constexpr double kRates[] = {0, 0.001, 0.01, 0.05};
constexpr double kWorst = 0.05;
constexpr double kLeastGoodput = 0.85;

std::vector<simulation::RunSpec> runs(const SweepOptions& options) {
  std::vector<simulation::RunSpec> specs;
  simulation::RunSpec base;
  base.load_kind = simulation::LoadKind::application;
  for (const auto& spec : by_workload_and_load(options, base, {0.5, 0.8}, {"w3", "w4"}, {"datagram"})) {
    for (const double rate : kRates) {
      specs.push_back(spec);
      specs.back().loss_rate = rate;
    }
  }
  return specs;
}

double goodput(const simulation::RunResult& run) {
  return run.rates.goodput_gbps;
}

void report(const std::vector<Point>& points, const Published&, Report& report) {
  Table table{"Random loss on the links into hosts, datagram carrier; per host; slowdown of the shortest half",
              {"workload", "loss", "Gbit/s", "of lossless", "", "p50", "p99", "p99 us, all", "resent bytes", ""},
              {}};
  Panel panel{"", "frames lost (%)", "slowdown of the shortest half, p99", false, true, {}, 0, 0, {}};
  std::map<std::string, double> lossless;
  for (const Point& point : points) {
    const std::string name = fmt::format("{} {}", workload_name(point.spec), percent(point.spec.load));
    const double value = number_over_seeds(point, goodput).value;
    if (point.spec.loss_rate == 0) {
      lossless[name] = value;
      panel.curves.push_back({name, CurveRole::ours, {}});
    }
    const double part = lossless[name] > 0 ? value / lossless[name] : 0;
    std::string verdict;
    if (point.spec.loss_rate == kWorst) {
      verdict = report.check(fmt::format("{}, goodput at 5 % loss over lossless", name), part, kLeastGoodput, {});
    }
    const auto mean = [&](auto function) { return number_over_seeds(point, function).value; };
    table.rows.push_back(
        {name, percent(point.spec.loss_rate, 1), fmt::format("{:.2f}", value), fmt::format("{:.3f}", part), verdict,
         half_cell(point, Statistic::p50), half_cell(point, Statistic::p99),
         fmt::format("{:.0f}", mean([](const auto& run) { return run.latency.p99_us; })),
         percent(mean([](const auto& run) {
                   const auto& traffic = run.traffic;
                   const auto data = static_cast<double>(traffic.unscheduled_bytes + traffic.scheduled_bytes);
                   return data > 0 ? static_cast<double>(traffic.retransmitted_bytes) / data : 0;
                 }),
                 1),
         point.trouble()});
    const auto p99 = number_over_seeds(point, [](const auto& run) { return of_shortest_half(run, Statistic::p99); });
    panel.curves.back().samples.push_back({point.spec.loss_rate * 100, p99.value, p99.low, p99.high});
  }
  report.tables.push_back(table);
  report.figures.push_back({"loss", {panel}});
}

}  // namespace

Experiment loss() {
  return {"loss",
          "0.1 %, 1 % and 5 % of frames lost at random, datagram carrier",
          {.workload = true, .load = true, .policy = false, .carrier = false},
          1,
          runs,
          report};
}

}  // namespace homa::tools::sim
