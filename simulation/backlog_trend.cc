#include "simulation/backlog_trend.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace homa::simulation {
namespace {

constexpr std::size_t kBatches = 40;
constexpr double kStudent95 = 2.024;  // 38 degrees of freedom
/// Neighbours are never taken for more alike than this, or no growth could be told.
constexpr double kMostAlike = 0.95;
/// Growth that no run of ours could tell from noise, as a part of what is offered.
constexpr double kNegligible = 0.01;
/// An interval that reaches beyond this growth says nothing.
constexpr double kTolerable = 0.03;
/// Growth of a backlog that no swing makes.
constexpr double kBeyondDoubt = 0.15;
/// The last quarter over the end of the warm-up: some 2 and more when a backlog grows from the start, near 1 at rest.
constexpr double kLarger = 1.5;
/// Standard deviations of the bytes that happen to start, within which growth is no more than luck ...
constexpr double kSigmas = 3;
/// ... and of the slope of a random walk, over that of its ends.
constexpr double kSlopeOfWalk = 1.1;
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
  double neighbours = 0;
  double before = 0;
  for (std::size_t b = 0; b < kBatches; ++b) {
    const double residue = means[b] - mean - slope * (static_cast<double>(b) - center);
    residues += residue * residue;
    neighbours += residue * before;
    before = residue;
  }
  // One large message holds the backlog up for many batches, so they are not independent: as of a first-order
  // autoregression, n of them say as much as n (1 - r) / (1 + r) independent ones.
  const double alike = residues > 0 ? std::clamp(neighbours / residues, 0.0, kMostAlike) : 0;
  const double half = kStudent95 * std::sqrt(residues / (kBatches - 2) / variance * (1 + alike) / (1 - alike));
  const double unit = setting.interval_s * static_cast<double>(size) * setting.offered;
  backlog.slope = {slope / unit, (slope - half) / unit, (slope + half) / unit};
  const double span_s = setting.interval_s * static_cast<double>(samples_.size());
  const bool long_enough = span_s >= kRelaxations * setting.relaxation_s;
  if (span_s < setting.relaxation_s) return backlog;
  const double luck = kSigmas * kSlopeOfWalk * std::sqrt(setting.size_bytes / (setting.offered * span_s / 2));
  const double sure = std::min(backlog.slope.low, backlog.slope.value - luck);
  if (sure > (long_enough ? kNegligible : kBeyondDoubt) && is_larger_than_before()) {
    backlog.verdict = LoadVerdict::diverges;
  } else if (long_enough && backlog.slope.high < kTolerable) {
    backlog.verdict = LoadVerdict::sustainable;
  }
  return backlog;
}

bool BacklogTrend::is_larger_than_before() const {
  if (before_count_ == 0) return true;
  const std::size_t quarter = std::max<std::size_t>(samples_.size() / 4, 1);
  double late = 0;
  for (std::size_t i = samples_.size() - quarter; i < samples_.size(); ++i) late += samples_[i];
  return late / static_cast<double>(quarter) > kLarger * before_sum_ / static_cast<double>(before_count_);
}

}  // namespace homa::simulation
