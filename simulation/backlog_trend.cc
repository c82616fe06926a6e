#include "simulation/backlog_trend.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace homa::simulation {
namespace {

/// Few and long batches: the backlog at one moment says much about the next one.
constexpr std::size_t kBatches = 12;
constexpr double kStudent95 = 2.228;  // 10 degrees of freedom
/// Growth that no run of ours could tell from noise, as a part of what is offered.
constexpr double kNegligible = 0.01;
/// Growth of a backlog that no swing makes.
constexpr double kBeyondDoubt = 0.15;
/// Relaxation times that samples must span for a verdict.
constexpr double kRelaxations = 3;

}  // namespace

Backlog BacklogTrend::judge(const Setting& setting) const {
  Backlog backlog;
  if (samples_.empty()) return backlog;
  double sum = 0;
  for (const double sample : samples_) {
    sum += sample;
    backlog.max_bytes = std::max(backlog.max_bytes, sample);
  }
  backlog.mean_bytes = sum / static_cast<double>(samples_.size());
  // The first half is given to a backlog that still comes to rest.
  const std::size_t half_way = samples_.size() / 2;
  const std::size_t size = (samples_.size() - half_way) / kBatches;
  if (size == 0 || setting.offered <= 0) return backlog;

  std::array<double, kBatches> means{};
  double mean = 0;
  for (std::size_t b = 0; b < kBatches; ++b) {
    for (std::size_t i = 0; i < size; ++i) means[b] += samples_[half_way + b * size + i] / static_cast<double>(size);
    mean += means[b] / kBatches;
  }
  const double center = (kBatches - 1) / 2.0;
  double covariance = 0;
  double variance = 0;
  for (std::size_t b = 0; b < kBatches; ++b) {
    const double x = static_cast<double>(b) - center;
    covariance += x * (means[b] - mean);
    variance += x * x;
  }
  const double slope = covariance / variance;
  double residues = 0;
  for (std::size_t b = 0; b < kBatches; ++b) {
    const double residue = means[b] - mean - slope * (static_cast<double>(b) - center);
    residues += residue * residue;
  }
  const double half = kStudent95 * std::sqrt(residues / (kBatches - 2) / variance);
  const double unit = setting.interval_s * static_cast<double>(size) * setting.offered;
  backlog.slope = {slope / unit, (slope - half) / unit, (slope + half) / unit};
  const double span_s = setting.interval_s * static_cast<double>(samples_.size());
  const bool long_enough = span_s >= kRelaxations * setting.relaxation_s;
  if (backlog.slope.low > (long_enough ? kNegligible : kBeyondDoubt)) {
    backlog.verdict = LoadVerdict::diverges;
  } else if (long_enough) {
    backlog.verdict = LoadVerdict::sustainable;
  }
  return backlog;
}

}  // namespace homa::simulation
