#include "protocol/cutoffs.h"

#include <algorithm>
#include <cmath>

namespace homa::protocol {

UnscheduledPolicy::UnscheduledPolicy(int levels) : levels_(std::clamp(levels, 1, kPriorityLevels)) {
  // Before any traffic: the defaults of Linux Homa, whose four lower levels are for granted bytes.
  scheduled_levels_ = levels_ > 1 ? std::max(1, levels_ / 2) : 1;
  constexpr Cutoffs start = {0, 0, 0, 0, 1000000, 15000, 2800, 200};
  cutoffs_ = start;
  const int lowest_unscheduled = levels_ > 1 ? lowest_level() + scheduled_levels_ : lowest_level();
  // Non-increasing, and the lowest unscheduled level takes what is left: levels below are never reached.
  for (int i = 0; i <= lowest_unscheduled; ++i) cutoffs_[static_cast<std::size_t>(i)] = kInfinity;
}

void UnscheduledPolicy::fix(const Cutoffs& cutoffs, int scheduled_levels) {
  fixed_ = true;
  cutoffs_ = cutoffs;
  scheduled_levels_ = std::clamp(scheduled_levels, 1, levels_);
}

int UnscheduledPolicy::bucket_of(std::uint64_t length) {
  if (length < 4) return static_cast<int>(length);
  const int log = 63 - __builtin_clzll(length);
  const int quarter = static_cast<int>((length >> (log - 2)) & 3);
  return std::min(4 * (log - 1) + quarter, kBuckets - 1);
}

std::uint32_t UnscheduledPolicy::upper_end(int bucket) {
  if (bucket < 4) return static_cast<std::uint32_t>(bucket);
  const int log = bucket / 4 + 1;
  const std::uint64_t quarter = static_cast<std::uint64_t>(bucket % 4) + 1;
  const std::uint64_t end = (std::uint64_t{4} + quarter) << (log - 2);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(end - 1, kInfinity - 1));
}

void UnscheduledPolicy::observe(std::uint64_t length, std::uint64_t unscheduled) {
  if (fixed_) return;
  unscheduled = std::min(unscheduled, length);
  // A packet's headers count too, or messages of 0 bytes would weigh nothing.
  unscheduled_bytes_[static_cast<std::size_t>(bucket_of(length))] += static_cast<double>(unscheduled) + 54;
  scheduled_bytes_ += static_cast<double>(length - unscheduled);
  if (++observed_ % kRecompute == 0) recompute();
}

void UnscheduledPolicy::recompute() {
  double unscheduled_total = 0;
  for (const double bytes : unscheduled_bytes_) unscheduled_total += bytes;
  int unscheduled_levels = levels_;
  if (levels_ > 1) {
    const double part = unscheduled_total / (unscheduled_total + scheduled_bytes_);
    unscheduled_levels = std::clamp(static_cast<int>(std::lround(part * levels_)), 1, levels_ - 1);
  }
  const int lowest_unscheduled = kPriorityLevels - unscheduled_levels;
  Cutoffs cutoffs;
  cutoffs.fill(kInfinity);
  double gathered = 0;
  int level = kPriorityLevels - 1;
  for (int bucket = 0; bucket < kBuckets && level > lowest_unscheduled; ++bucket) {
    gathered += unscheduled_bytes_[static_cast<std::size_t>(bucket)];
    while (level > lowest_unscheduled &&
           gathered >= unscheduled_total * (kPriorityLevels - level) / unscheduled_levels) {
      cutoffs[static_cast<std::size_t>(level--)] = upper_end(bucket);
    }
  }
  scheduled_levels_ = levels_ > 1 ? levels_ - unscheduled_levels : 1;
  for (double& bytes : unscheduled_bytes_) bytes *= 0.5;
  scheduled_bytes_ *= 0.5;
  if (cutoffs == cutoffs_) return;
  cutoffs_ = cutoffs;
  if (++version_ == 0) version_ = 1;  // 0 means "none known"
}

Priority UnscheduledPolicy::priority_of(const Cutoffs& cutoffs, std::uint64_t length) {
  for (int i = kPriorityLevels - 1; i > 0; --i) {
    if (cutoffs[static_cast<std::size_t>(i)] >= length) return Priority{static_cast<std::uint8_t>(i)};
  }
  return kLowestPriority;
}

}  // namespace homa::protocol
