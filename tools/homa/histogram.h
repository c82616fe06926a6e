// A latency histogram with about 1 % resolution over the whole 64-bit range, as HdrHistogram does it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace homa::tools {

/// Values below 256 are exact; above, each power of two is divided into 128 buckets, so a reported value (the middle
/// of its bucket) is at most 0.4 % away from a recorded one. 59 KB of memory, record() is a few instructions.
class Histogram {
 public:
  Histogram() : buckets_(kBucketCount) {}
  void record(std::uint64_t value);
  void record(Duration value) { record(static_cast<std::uint64_t>(value.count() < 0 ? 0 : value.count())); }
  void merge(const Histogram& other);

  bool empty() const { return count_ == 0; }
  std::uint64_t count() const { return count_; }
  std::uint64_t smallest() const { return count_ == 0 ? 0 : smallest_; }
  std::uint64_t largest() const { return largest_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  /// The value that `percent` of the recorded ones do not exceed (nearest rank). 0 when empty.
  std::uint64_t percentile(double percent) const;

 private:
  static constexpr int kSubBucketBits = 7;
  static constexpr std::size_t kSubBuckets = std::size_t{1} << kSubBucketBits;
  static constexpr std::size_t kBucketCount = (64 - kSubBucketBits - 1) * kSubBuckets + 2 * kSubBuckets;
  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t middle_of(std::size_t bucket);

  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t smallest_ = UINT64_MAX;
  std::uint64_t largest_ = 0;
  double sum_ = 0;
};

}  // namespace homa::tools
