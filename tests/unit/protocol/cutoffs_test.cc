#include "protocol/cutoffs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/rng.h"

namespace homa::protocol {
namespace {

constexpr std::uint64_t kUnscheduled = 65536;

/// Feeds messages until the cutoffs rest on them, and returns the lengths of the last half.
std::vector<std::uint64_t> feed(UnscheduledPolicy& policy, Rng& rng, int count, double largest_log) {
  std::vector<std::uint64_t> lengths;
  for (int i = 0; i < count; ++i) {
    const auto length = static_cast<std::uint64_t>(std::exp2(rng.unit() * largest_log));
    policy.observe(length, std::min(length, kUnscheduled));
    if (i >= count / 2) lengths.push_back(length);
  }
  return lengths;
}

void check_shape(const UnscheduledPolicy& policy, int levels) {
  const auto& cutoffs = policy.cutoffs();
  for (std::size_t i = 1; i < cutoffs.size(); ++i) ASSERT_LE(cutoffs[i], cutoffs[i - 1]);
  ASSERT_EQ(policy.lowest_level(), kPriorityLevels - levels);
  ASSERT_GE(policy.scheduled_levels(), 1);
  ASSERT_LE(policy.scheduled_levels(), std::max(levels - 1, 1));
  for (const std::uint64_t length : {0ULL, 1ULL, 100ULL, 10'000ULL, 1'000'000ULL, 0xffffffffULL}) {
    const int level = index(UnscheduledPolicy::priority_of(cutoffs, length));
    ASSERT_GE(level, policy.lowest_level()) << length;
    // With two levels or more, granted bytes never share a level with unscheduled ones.
    if (levels > 1) {
      ASSERT_GE(level, policy.lowest_level() + policy.scheduled_levels()) << length;
    }
  }
}

TEST(UnscheduledPolicy, CutoffsAreMonotoneAndWithinTheLevels) {
  for (const int levels : {1, 2, 4, 8}) {
    SCOPED_TRACE(levels);
    UnscheduledPolicy policy(levels);
    check_shape(policy, levels);
    Rng rng(static_cast<std::uint64_t>(levels));
    for (int round = 0; round < 20; ++round) {
      feed(policy, rng, 1024, 2 + rng.unit() * 28);
      check_shape(policy, levels);
    }
  }
}

TEST(UnscheduledPolicy, ShorterMessagesAreNeverLessUrgent) {
  UnscheduledPolicy policy(8);
  Rng rng(5);
  feed(policy, rng, 8192, 16);
  int last = kPriorityLevels;
  for (std::uint64_t length = 0; length < 200'000; length += 1 + length / 50) {
    const int level = index(UnscheduledPolicy::priority_of(policy.cutoffs(), length));
    ASSERT_LE(level, last);
    last = level;
  }
}

TEST(UnscheduledPolicy, EachLevelCarriesEqualBytes) {
  UnscheduledPolicy policy(8);
  Rng rng(6);
  const auto lengths = feed(policy, rng, 60'000, 15);  // all unscheduled: seven levels for them
  EXPECT_EQ(policy.scheduled_levels(), 1);
  std::array<double, kPriorityLevels> bytes{};
  double total = 0;
  for (const std::uint64_t length : lengths) {
    const auto level = static_cast<std::size_t>(index(UnscheduledPolicy::priority_of(policy.cutoffs(), length)));
    bytes.at(level) += static_cast<double>(length) + 54;
    total += static_cast<double>(length) + 54;
  }
  EXPECT_EQ(bytes[0], 0);
  // Cut at buckets of a quarter of a power of two, so equal only about.
  for (std::size_t i = 1; i < bytes.size(); ++i) EXPECT_NEAR(bytes.at(i) / total, 1.0 / 7, 0.06) << i;
}

TEST(UnscheduledPolicy, LevelsAreSplitInTheRatioOfBytes) {
  // All messages of twice, of four times ... the unscheduled bytes: the part of 8 levels that is unscheduled.
  for (const std::uint64_t factor : {1ULL, 2ULL, 4ULL, 100ULL}) {
    SCOPED_TRACE(factor);
    UnscheduledPolicy policy(8);
    for (int i = 0; i < 8 * 1024; ++i) policy.observe(factor * kUnscheduled, kUnscheduled);
    const int expected = std::clamp(static_cast<int>(std::lround(8.0 / static_cast<double>(factor))), 1, 7);
    EXPECT_EQ(policy.scheduled_levels(), 8 - expected);
  }
}

TEST(UnscheduledPolicy, VersionChangesExactlyWithTheCutoffs) {
  UnscheduledPolicy policy(8);
  EXPECT_NE(policy.version(), 0) << "0 means none known";
  Rng rng(9);
  auto cutoffs = policy.cutoffs();
  auto version = policy.version();
  int changes = 0;
  for (int i = 0; i < 50'000; ++i) {
    feed(policy, rng, 1, 4 + i % 3);
    ASSERT_EQ(policy.version() != version, policy.cutoffs() != cutoffs);
    changes += policy.version() != version ? 1 : 0;
    version = policy.version();
    cutoffs = policy.cutoffs();
  }
  EXPECT_GT(changes, 0);
  EXPECT_LE(changes, 50);
}

TEST(UnscheduledPolicy, MessagesWithoutBytesAndOfAnyLengthAreCounted) {
  UnscheduledPolicy policy(8);
  for (int i = 0; i < 2048; ++i) policy.observe(0, 0);
  for (int i = 0; i < 2048; ++i) policy.observe(~std::uint64_t{0} >> 16, kUnscheduled);
  check_shape(policy, 8);
}

// Config::fixed_policy: what is observed changes nothing.
TEST(Cutoffs, FixedOnesStay) {
  UnscheduledPolicy policy(kPriorityLevels);
  const UnscheduledPolicy::Cutoffs wanted = {9000, 9000, 9000, 9000, 9000, 700, 70, 7};
  policy.fix(wanted, 3);
  Rng rng(4);
  feed(policy, rng, 10000, 20);
  EXPECT_EQ(policy.cutoffs(), wanted);
  EXPECT_EQ(policy.scheduled_levels(), 3);
  EXPECT_EQ(policy.version(), 1);
}

}  // namespace
}  // namespace homa::protocol
