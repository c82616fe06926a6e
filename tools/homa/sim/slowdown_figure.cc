#include "sim/slowdown_figure.h"

#include <fmt/format.h>

#include "simulation/workload.h"

namespace homa::tools::sim {
namespace {

/// A published p99 of a handful of messages says nothing, and reaches far out of the picture.
constexpr double kLeastPublishedShare = 5e-5;

Curve our_curve(const Point& point, const std::string& name, Statistic statistic) {
  Curve curve{name, CurveRole::ours, {}};
  for (const CurvePoint& at : slowdown_curve(point, statistic)) {
    curve.samples.push_back({(at.from + at.to) / 2, at.slowdown.value, at.slowdown.low, at.slowdown.high});
  }
  return curve;
}

Curve published_curve(const std::string& transport, const std::vector<PublishedBucket>& buckets, Statistic statistic) {
  Curve curve{transport + " (published)", transport == "Homa" ? CurveRole::reference : CurveRole::published, {}};
  double share = 0;
  for (const PublishedBucket& bucket : buckets) {
    const double middle = (share + bucket.count_fraction) / 2;
    const double width = bucket.count_fraction - share;
    share = bucket.count_fraction;
    if (width < kLeastPublishedShare) continue;
    const double value = bucket.of(statistic);
    curve.samples.push_back({middle, value, value, value});
  }
  return curve;
}

}  // namespace

std::string short_bytes(double bytes) {
  constexpr const char* kUnits[] = {"", " k", " M", " G"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  return unit > 0 && bytes < 9.95 ? fmt::format("{:.1f}{}", bytes, kUnits[unit])
                                  : fmt::format("{:.0f}{}", bytes, kUnits[unit]);
}

std::vector<Tick> size_ticks(const std::string& workload) {
  std::vector<Tick> ticks;
  const auto sizes = simulation::Workload::load(workload);
  if (!sizes) return ticks;
  for (int tenth = 1; tenth <= 10; ++tenth) {
    const double share = tenth / 10.0;
    ticks.push_back({share, short_bytes(static_cast<double>(sizes->quantile(share)))});
  }
  return ticks;
}

Figure slowdown_figure(const std::string& name, const std::string& title, const std::vector<const Point*>& points,
                       const std::vector<std::string>& names, const Published& published) {
  Figure figure{name, {}};
  const simulation::RunSpec& spec = points.front()->spec;
  for (const Statistic statistic : {Statistic::p50, Statistic::p99}) {
    Panel panel;
    panel.title = title;
    panel.x_label = "message size (bytes), by share of messages";
    panel.y_label = fmt::format("slowdown, {}", statistic == Statistic::p50 ? "median" : "99th percentile");
    panel.log_y = true;
    panel.ticks = size_ticks(spec.workload);
    panel.x_min = 0;
    panel.x_max = 1;
    for (const std::string& transport : published.transports()) {
      const auto& buckets = published.curve(transport, spec.workload, spec.load);
      if (!buckets.empty()) panel.curves.push_back(published_curve(transport, buckets, statistic));
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
      panel.curves.push_back(our_curve(*points[i], names[i], statistic));
    }
    figure.panels.push_back(panel);
  }
  return figure;
}

}  // namespace homa::tools::sim
