// Figures 12 and 13 of SIGCOMM'18: slowdown by message size, five workloads, 50 % and 80 % load.
#include <cmath>

#include <fmt/format.h>

#include "sim/experiments/all.h"
#include "sim/experiments/common.h"
#include "sim/slowdown_figure.h"

namespace homa::tools::sim {
namespace {

constexpr double kP50Tolerance = 0.05;
constexpr double kP99Tolerance = 0.15;

std::vector<simulation::RunSpec> runs(const SweepOptions& options) {
  simulation::RunSpec base;
  base.buckets = 100;
  return by_workload_and_load(options, base, {0.5, 0.8}, all_workloads(), {"native"});
}

std::string label(const Point& point) {
  return fmt::format("{} {}", workload_name(point.spec), percent(point.spec.load));
}

std::string curve_name(const simulation::RunSpec& spec) {
  if (spec.policy == "oracle") return "ideal SRPT, this model";
  return "libhoma's core (" + policy_name(spec) + ")";
}

void add_half(Report& report, const Point& point, const Published& published, Statistic statistic, double tolerance,
              std::vector<std::string>& row) {
  row.push_back(half_cell(point, statistic));
  const auto target = published.shortest_half("Homa", point.spec.workload, point.spec.load, statistic);
  if (!target) {
    row.insert(row.end(), {"", ""});
    return;
  }
  row.push_back(fmt::format("{:.2f}", *target));
  row.push_back(!is_homa18(point.spec)
                    ? ""
                    : report.check(fmt::format("{}, shortest half, {}", label(point), to_string(statistic)),
                                   half_value(point, statistic), *target * (1 - tolerance), *target * (1 + tolerance)));
}

/// The longest messages, at the end of the curve.
void add_longest(Report& report, const Point& point, const Published& published, std::vector<std::string>& row) {
  const auto curve = slowdown_curve(point, Statistic::p99);
  if (curve.empty()) {
    row.insert(row.end(), {"", "", ""});
    return;
  }
  const CurvePoint& last = curve.back();
  row.push_back(with_interval(last.slowdown));
  const auto target = published.mean_between(point.spec.workload, point.spec.load, Statistic::p99, last.from, last.to);
  row.push_back(target ? fmt::format("{:.2f}", *target) : "");
  row.push_back(target && is_homa18(point.spec) ? report.check(fmt::format("{}, longest bucket, p99", label(point)),
                                                               last.slowdown.value, {}, *target)
                                                : "");
}

Table half_table(const std::vector<Point>& points, const Published& published, Report& report) {
  Table table{"Slowdown of the shortest half of messages, and of the longest bucket (published: Homa, SIGCOMM'18)",
              {"workload", "policy", "messages", "p50", "published", "", "p99", "published", "", "longest p99",
               "published", "", ""},
              {}};
  for (const Point& point : points) {
    std::uint64_t messages = 0;
    for (const auto& run : point.runs) messages += run.messages_measured;
    std::vector<std::string> row{label(point), policy_name(point.spec), std::to_string(messages)};
    add_half(report, point, published, Statistic::p50, kP50Tolerance, row);
    add_half(report, point, published, Statistic::p99, kP99Tolerance, row);
    add_longest(report, point, published, row);
    row.push_back(point.trouble());
    table.rows.push_back(row);
  }
  return table;
}

/// How far ours is from the published curve, over all buckets.
Table curve_table(const std::vector<Point>& points, const Published& published) {
  Table table{"Ours over published, bucket by bucket (least, geometric mean, greatest; and the bytes where)",
              {"workload", "policy", "", "least", "at", "mean", "greatest", "at", "buckets over"},
              {}};
  for (const Point& point : points) {
    for (const Statistic statistic : {Statistic::p50, Statistic::p99}) {
      double least = 0;
      double greatest = 0;
      double logarithms = 0;
      std::uint64_t least_at = 0;
      std::uint64_t greatest_at = 0;
      int count = 0;
      int over = 0;
      for (const CurvePoint& at : slowdown_curve(point, statistic)) {
        const auto target = published.mean_between(point.spec.workload, point.spec.load, statistic, at.from, at.to);
        if (!target) continue;
        const double ratio = at.slowdown.value / *target;
        if (count == 0 || ratio < least) least = ratio, least_at = at.largest_bytes;
        if (count == 0 || ratio > greatest) greatest = ratio, greatest_at = at.largest_bytes;
        logarithms += std::log(ratio);
        over += ratio > 1 ? 1 : 0;
        ++count;
      }
      if (count == 0) continue;
      table.rows.push_back({label(point), policy_name(point.spec), to_string(statistic), fmt::format("{:.2f}", least),
                            short_bytes(static_cast<double>(least_at)),
                            fmt::format("{:.2f}", std::exp(logarithms / count)), fmt::format("{:.2f}", greatest),
                            short_bytes(static_cast<double>(greatest_at)), fmt::format("{} of {}", over, count)});
    }
  }
  return table;
}

void report(const std::vector<Point>& points, const Published& published, Report& report) {
  report.tables.push_back(half_table(points, published, report));
  if (Table curves = curve_table(points, published); !curves.rows.empty()) report.tables.push_back(std::move(curves));
  std::vector<bool> drawn(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (drawn[i]) continue;
    std::vector<const Point*> group;
    std::vector<std::string> names;
    for (std::size_t k = i; k < points.size(); ++k) {
      if (points[k].spec.workload != points[i].spec.workload || points[k].spec.load != points[i].spec.load) continue;
      drawn[k] = true;
      group.push_back(&points[k]);
      names.push_back(curve_name(points[k].spec));
    }
    const std::string workload = workload_name(points[i].spec);
    report.figures.push_back(slowdown_figure(fmt::format("slowdown-{}-{:.0f}", workload, points[i].spec.load * 100),
                                             fmt::format("{}, {} load", workload, percent(points[i].spec.load)), group,
                                             names, published));
  }
}

}  // namespace

Experiment homa18_slowdown() {
  return {"homa18-slowdown",
          "slowdown by message size of W1 to W5 at 50 % and 80 % load (SIGCOMM'18, figures 12 and 13)",
          {.workload = true, .load = true, .policy = true, .carrier = true},
          3,
          runs,
          report};
}

}  // namespace homa::tools::sim
