#include "histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace homa::tools {

std::size_t Histogram::bucket_of(std::uint64_t value) {
  if (value < 2 * kSubBuckets) return static_cast<std::size_t>(value);
  // After the shift the value has exactly kSubBucketBits + 1 significant bits: the buckets of one power of two.
  const int shift = static_cast<int>(std::bit_width(value)) - kSubBucketBits - 1;
  return static_cast<std::size_t>(shift) * kSubBuckets + static_cast<std::size_t>(value >> shift);
}

std::uint64_t Histogram::middle_of(std::size_t bucket) {
  if (bucket < 2 * kSubBuckets) return bucket;
  const std::size_t shift = bucket / kSubBuckets - 1;
  const std::uint64_t low = static_cast<std::uint64_t>(bucket - shift * kSubBuckets) << shift;
  return low + ((std::uint64_t{1} << shift) >> 1);
}

void Histogram::record(std::uint64_t value) {
  ++buckets_[bucket_of(value)];
  ++count_;
  smallest_ = std::min(smallest_, value);
  largest_ = std::max(largest_, value);
  sum_ += static_cast<double>(value);
}

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < kBucketCount; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  smallest_ = std::min(smallest_, other.smallest_);
  largest_ = std::max(largest_, other.largest_);
  sum_ += other.sum_;
}

std::uint64_t Histogram::percentile(double percent) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(percent / 100.0 * static_cast<double>(count_));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(wanted, 1.0)), 1, count_);
  if (rank == count_) return largest_;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBucketCount; ++i) {
    seen += buckets_[i];
    if (seen >= rank) return std::clamp(middle_of(i), smallest_, largest_);
  }
  return largest_;
}

}  // namespace homa::tools
