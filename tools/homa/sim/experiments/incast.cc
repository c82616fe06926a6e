// One client asks many servers at once: does its throughput hold?
#include <algorithm>

#include <fmt/format.h>

#include "sim/experiments/all.h"
#include "sim/experiments/common.h"

namespace homa::tools::sim {
namespace {

constexpr std::uint32_t kWidths[] = {10, 30, 100, 300, 1000, 3000};
/// "Holds for a thousand and more": loses no more than a tenth of the best.
constexpr double kHolds = 0.9;
constexpr std::uint32_t kMany = 1000;

std::vector<simulation::RunSpec> runs(const SweepOptions&) {
  std::vector<simulation::RunSpec> specs;
  for (const bool control : {true, false}) {
    for (const std::uint32_t width : kWidths) {
      simulation::RunSpec spec;
      spec.topology = "homa18-shared";
      spec.carrier = simulation::RunCarrier::datagram;
      spec.policy = "libhoma";
      spec.generator = simulation::Generator::incast;
      spec.incast_control = control;
      spec.incast_width = width;
      constexpr std::uint64_t kRounds = 20;
      spec.messages = std::max<std::uint64_t>(kRounds * width, 10000);
      specs.push_back(spec);
    }
  }
  return specs;
}

double gbps(const Point& point) {
  return number_over_seeds(point, [](const auto& run) { return flow_of(run, "incast").gbps; }).value;
}

void report(const std::vector<Point>& points, const Published&, Report& report) {
  Table table{"Goodput of one client that asks N servers for 10 kB each, all at once, again and again",
              {"N", "incast control", "Gbit/s", "p99 us", "frames dropped", "resent bytes", "queue max kB", ""},
              {}};
  Panel panel{"", "servers asked at once", "goodput (Gbit/s)", true, false, {}, 0, 0, {}};
  for (const bool control : {true, false}) {
    panel.curves.push_back({control ? "with incast control" : "without", CurveRole::ours, {}});
  }
  double best = 0;
  for (const Point& point : points) best = std::max(best, point.spec.incast_control ? gbps(point) : 0);
  for (const Point& point : points) {
    const double value = gbps(point);
    const auto mean = [&](auto function) { return number_over_seeds(point, function).value; };
    table.rows.push_back(
        {std::to_string(point.spec.incast_width), point.spec.incast_control ? "on" : "off",
         fmt::format("{:.2f}", value), fmt::format("{:.0f}", mean([](const auto& run) { return run.latency.p99_us; })),
         fmt::format("{:.0f}", mean([](const auto& run) { return static_cast<double>(run.drops.full_buffers); })),
         fmt::format("{:.0f}",
                     mean([](const auto& run) { return static_cast<double>(run.traffic.retransmitted_bytes); })),
         fmt::format("{:.0f}", mean([](const auto& run) { return port_of(run, "host_down").max_bytes / 1000; })),
         point.trouble()});
    Curve& curve = panel.curves[point.spec.incast_control ? 0 : 1];
    curve.samples.push_back({static_cast<double>(point.spec.incast_width), value, value, value});
    if (point.spec.incast_control && point.spec.incast_width >= kMany) {
      report.check(fmt::format("goodput with N = {} over the best", point.spec.incast_width), value / best, kHolds, {});
    }
  }
  report.tables.push_back(table);
  report.figures.push_back({"incast", {panel}});
}

}  // namespace

Experiment incast() {
  return {"incast",
          "10 kB responses from 10 to 3000 servers at once, with and without incast control, finite buffers",
          {.topology = true},
          1,
          runs,
          report};
}

}  // namespace homa::tools::sim
