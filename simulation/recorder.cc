#include "simulation/recorder.h"

#include <algorithm>
#include <cmath>

namespace homa::simulation {
namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
constexpr double kNormal95 = 1.96;  // two-sided 95 % of the normal distribution
constexpr int kBatches = 10;
constexpr double kStudent95 = 2.262;  // ... and of Student's with 9 degrees of freedom

template <typename T>
double at_quantile(const std::vector<T>& sorted, double position) {
  const double last = static_cast<double>(sorted.size() - 1);
  return static_cast<double>(sorted[static_cast<std::size_t>(std::clamp(position, 0.0, last))]);
}

// The order statistics between which the quantile lies with 95 %: a count below it is binomial.
Estimate quantile_of(const std::vector<float>& sorted, double quantile) {
  const auto n = static_cast<double>(sorted.size());
  const double spread = kNormal95 * std::sqrt(n * quantile * (1 - quantile));
  return {at_quantile(sorted, n * quantile), at_quantile(sorted, n * quantile - spread),
          at_quantile(sorted, n * quantile + spread)};
}

double mean_of(const float* begin, const float* end) {
  double sum = 0;
  for (const float* at = begin; at != end; ++at) sum += static_cast<double>(*at);
  return sum / static_cast<double>(end - begin);
}

Estimate batch_mean(const std::vector<float>& samples) {
  const double mean = mean_of(samples.data(), samples.data() + samples.size());
  const std::size_t size = samples.size() / kBatches;
  if (size == 0) return {mean, mean, mean};
  double squares = 0;
  for (std::size_t b = 0; b < kBatches; ++b) {
    const double of_batch = mean_of(samples.data() + b * size, samples.data() + (b + 1) * size);
    squares += (of_batch - mean) * (of_batch - mean);
  }
  const double half = kStudent95 * std::sqrt(squares / (kBatches - 1) / kBatches);
  return {mean, mean - half, mean + half};
}

}  // namespace

SlowdownStatistics statistics_of(const std::vector<float>& samples) {
  SlowdownStatistics statistics;
  statistics.count = samples.size();
  if (samples.empty()) return statistics;
  statistics.mean = batch_mean(samples);
  std::vector<float> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  statistics.p50 = quantile_of(sorted, 0.5);
  statistics.p99 = quantile_of(sorted, 0.99);
  return statistics;
}

// Bounds at equal counts of messages; a size that is more frequent than that makes a bucket of its own, and the buckets
// are fewer.
Recorder::Recorder(const Workload& workload, std::uint32_t buckets) : workload_(workload) {
  for (std::uint32_t i = 1; i <= buckets; ++i) {
    const std::uint64_t bound = workload.quantile(static_cast<double>(i) / buckets);
    if (bounds_.empty() || bound > bounds_.back()) bounds_.push_back(bound);
  }
}

void Recorder::add(std::uint64_t length, Duration latency, Duration unloaded) {
  const auto nanoseconds = static_cast<double>(latency.count());
  samples_.push_back({length, static_cast<float>(nanoseconds / static_cast<double>(unloaded.count())),
                      static_cast<float>(nanoseconds / 1000)});
}

std::vector<float> Recorder::slowdowns(std::uint64_t least, std::uint64_t most) const {
  std::vector<float> found;
  for (const Sample& sample : samples_) {
    if (sample.length >= least && sample.length <= most) found.push_back(sample.slowdown);
  }
  return found;
}

SizeBucket Recorder::bucket(std::uint64_t least, std::uint64_t most) const {
  SizeBucket bucket;
  bucket.largest_bytes = std::min(most, workload_.largest());
  bucket.smallest_bytes = bucket.largest_bytes;
  for (const Workload::Step& step : workload_.steps()) {
    if (step.size < least) continue;
    bucket.smallest_bytes = step.size;
    break;
  }
  bucket.count_fraction = workload_.fraction_up_to(most);
  bucket.slowdown = statistics_of(slowdowns(least, most));
  return bucket;
}

LatencyPercentiles Recorder::latencies(std::uint64_t most) const {
  std::vector<float> sorted;
  for (const Sample& sample : samples_) {
    if (sample.length <= most) sorted.push_back(sample.latency_us);
  }
  LatencyPercentiles result;
  result.count = sorted.size();
  if (sorted.empty()) return result;
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  result.min_us = static_cast<double>(sorted.front());
  result.p50_us = at_quantile(sorted, n * 0.5);
  result.p90_us = at_quantile(sorted, n * 0.9);
  result.p99_us = at_quantile(sorted, n * 0.99);
  result.p999_us = at_quantile(sorted, n * 0.999);
  result.max_us = static_cast<double>(sorted.back());
  return result;
}

void Recorder::report(RunResult& result) const {
  std::uint64_t least = 0;
  for (const std::uint64_t bound : bounds_) {
    result.buckets.push_back(bucket(least, bound));
    least = bound + 1;
  }
  for (const double part : {0.99, 0.999}) {
    const std::uint64_t below = workload_.quantile(part);
    if (below < workload_.largest()) result.largest.push_back(bucket(below + 1, kNoLimit));
  }
  const std::uint64_t half = workload_.quantile(0.5);
  result.all = statistics_of(slowdowns(0, kNoLimit));
  result.shortest_half = statistics_of(slowdowns(0, half));
  result.latency = latencies(kNoLimit);
  result.shortest_latency = latencies(half);
}

}  // namespace homa::simulation
