// The product's own carrier beside the native one, at the same bytes of messages: what acknowledgments and headers
// cost.
#include <fmt/format.h>

#include "sim/experiments/all.h"
#include "sim/experiments/common.h"
#include "sim/slowdown_figure.h"

namespace homa::tools::sim {
namespace {

std::vector<simulation::RunSpec> runs(const SweepOptions& options) {
  simulation::RunSpec base;
  base.load_kind = simulation::LoadKind::application;
  return by_workload_and_load(options, base, {0.5}, all_workloads(), {"native", "datagram"});
}

/// Bytes of everything on the links to hosts.
double total_bytes(const simulation::TrafficStatistics& traffic) {
  return static_cast<double>(traffic.unscheduled_bytes + traffic.scheduled_bytes + traffic.grant_bytes +
                             traffic.acknowledgment_bytes);
}

std::string mean_percent(const Point& point, double (*part)(const simulation::RunResult&)) {
  return percent(number_over_seeds(point, part).value, 1);
}

void report(const std::vector<Point>& points, const Published&, Report& report) {
  Table table{
      "The same messages on each carrier; p50 and p99 of the shortest half; parts of all bytes on the links to hosts",
      {"workload", "policy", "p50", "p99", "p99, all", "busy links", "message bytes", "grants", "acks", "resent", ""},
      {}};
  for (const Point& point : points) {
    table.rows.push_back(
        {fmt::format("{} {}", workload_name(point.spec), percent(point.spec.load)), policy_name(point.spec),
         half_cell(point, Statistic::p50), half_cell(point, Statistic::p99), all_cell(point, Statistic::p99),
         mean_percent(point, [](const auto& run) { return run.rates.link_utilisation; }),
         mean_percent(point,
                      [](const auto& run) {
                        return run.rates.carried_gbps > 0 ? run.rates.goodput_gbps / run.rates.carried_gbps : 0;
                      }),
         mean_percent(
             point,
             [](const auto& run) { return static_cast<double>(run.traffic.grant_bytes) / total_bytes(run.traffic); }),
         mean_percent(point,
                      [](const auto& run) {
                        return static_cast<double>(run.traffic.acknowledgment_bytes) / total_bytes(run.traffic);
                      }),
         mean_percent(point,
                      [](const auto& run) {
                        return static_cast<double>(run.traffic.retransmitted_bytes) / total_bytes(run.traffic);
                      }),
         point.trouble()});
  }
  report.tables.push_back(table);
  for (const Point& point : points) {
    if (point.spec.carrier != simulation::RunCarrier::native) continue;
    std::vector<const Point*> group;
    std::vector<std::string> names;
    for (const Point& other : points) {
      if (other.spec.workload != point.spec.workload || other.spec.load != point.spec.load) continue;
      group.push_back(&other);
      names.push_back(policy_name(other.spec));
    }
    const std::string workload = workload_name(point.spec);
    report.figures.push_back(
        slowdown_figure(fmt::format("carriers-{}-{:.0f}", workload, point.spec.load * 100),
                        fmt::format("{}, {} of the links in message bytes", workload, percent(point.spec.load)), group,
                        names, Published()));
  }
}

}  // namespace

Experiment carriers() {
  return {
      "carriers",
      "W1 to W5 at the same bytes of messages, native and datagram carrier: the price of headers and acknowledgments",
      {.workload = true, .load = true, .policy = true, .carrier = true},
      1,
      runs,
      report};
}

}  // namespace homa::tools::sim
