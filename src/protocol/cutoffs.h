// Priorities of unscheduled bytes, computed by the receiver from the traffic it sees (SIGCOMM'18 section 3.4).
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"

namespace homa::protocol {

/// Counts message lengths; from time to time splits the levels between unscheduled and scheduled bytes in the ratio of
/// bytes seen, and cuts the unscheduled levels so that each carries equal bytes. Not thread-safe.
class UnscheduledPolicy {
 public:
  using Cutoffs = std::array<std::uint32_t, kPriorityLevels>;
  static constexpr std::uint32_t kInfinity = 0xffffffff;

  /// `levels` of the eight are in use, the highest ones.
  explicit UnscheduledPolicy(int levels);

  /// From now on these, whatever is observed (Config::fixed_policy).
  void fix(const Cutoffs& cutoffs, int scheduled_levels);

  /// A message of this length arrived, of which `unscheduled` bytes came without a grant.
  void observe(std::uint64_t length, std::uint64_t unscheduled);
  const Cutoffs& cutoffs() const { return cutoffs_; }
  std::uint16_t version() const { return version_; }
  /// Levels for granted bytes, from lowest_level() upward.
  int scheduled_levels() const { return scheduled_levels_; }
  int lowest_level() const { return kPriorityLevels - levels_; }

  /// Largest i with cutoffs[i] >= length; a peer without cutoffs yet gets one below the control level.
  static Priority priority_of(const Cutoffs& cutoffs, std::uint64_t length);

 private:
  // Buckets of lengths: 4 per power of two up to 2^32.
  static constexpr int kBuckets = 4 * 33;
  static constexpr std::uint32_t kRecompute = 1024;  // messages between two computations
  static int bucket_of(std::uint64_t length);
  static std::uint32_t upper_end(int bucket);
  void recompute();

  int levels_;
  int scheduled_levels_;
  bool fixed_ = false;
  std::uint16_t version_ = 1;
  std::uint32_t observed_ = 0;
  Cutoffs cutoffs_{};
  std::array<double, kBuckets> unscheduled_bytes_{};  // by length of the message, decayed
  double scheduled_bytes_ = 0;
};

}  // namespace homa::protocol
