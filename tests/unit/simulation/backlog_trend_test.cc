#include "simulation/backlog_trend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace homa::simulation {
namespace {

constexpr double kOffered = 1e9;
constexpr double kInterval = 1e-4;

/// A backlog that swings about 10 MB with memory, and grows by `growth` of what is offered.
Backlog backlog_of(double growth, std::uint64_t seed) {
  BacklogTrend trend;
  Rng rng(seed);
  double swing = 0;
  for (int i = 0; i < 1200; ++i) {
    swing = 0.9 * swing + (rng.unit() - 0.5) * 1e6;
    trend.add(static_cast<std::uint64_t>(1e7 + swing + growth * kOffered * kInterval * i));
  }
  return trend.judge({kInterval, kOffered, 100 * kInterval});
}

TEST(BacklogTrend, TellsGrowthFromSwings) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Backlog steady = backlog_of(0, seed);
    const Backlog growing = backlog_of(0.05, seed);
    wrong += steady.verdict != LoadVerdict::sustainable ? 1 : 0;
    EXPECT_EQ(growing.verdict, LoadVerdict::diverges);
    EXPECT_NEAR(growing.slope.value, 0.05, 0.02);
    EXPECT_LT(growing.slope.low, growing.slope.high);
  }
  EXPECT_LE(wrong, 5);
}

// Heavy tails make swings that last as long as the measuring: growth for the line, but not beyond what was there
// before.
TEST(BacklogTrend, ASlowSwingIsNoDivergence) {
  for (const bool grows : {false, true}) {
    BacklogTrend trend;
    for (int i = -400; i < 1200; ++i) {
      const double swing = 4e6 * std::sin((i - 900) / 400.0);
      const double growth = grows ? 0.05 * kOffered * kInterval * (i + 600) : 0;
      const auto bytes = static_cast<std::uint64_t>(1.2e7 + swing + growth);
      if (i < 0) {
        trend.add_before(bytes);
      } else {
        trend.add(bytes);
      }
    }
    const Backlog backlog = trend.judge({kInterval, kOffered, 100 * kInterval});
    EXPECT_EQ(backlog.verdict == LoadVerdict::diverges, grows) << backlog.slope.value;
  }
}

// More than usual may start by luck; the longer the messages, the more.
TEST(BacklogTrend, GrowthWithinLuckIsNoDivergence) {
  BacklogTrend trend;
  for (std::uint64_t i = 0; i < 1200; ++i) trend.add(i * 5'000);  // 5 % of what is offered
  constexpr double kHalf = 600 * kInterval * kOffered;            // starts in the second half
  const double deviation_5 = kHalf * 0.05 * 0.05 / (3.3 * 3.3);   // the size at which 5 % are three deviations
  EXPECT_EQ(trend.judge({kInterval, kOffered, kInterval, 0.5 * deviation_5}).verdict, LoadVerdict::diverges);
  EXPECT_NE(trend.judge({kInterval, kOffered, kInterval, 1.1 * deviation_5}).verdict, LoadVerdict::diverges);
}

TEST(BacklogTrend, SaysNothingOfFewSamples) {
  BacklogTrend trend;
  EXPECT_EQ(trend.judge({1, 1, 1}).verdict, LoadVerdict::unknown);
  for (int i = 0; i < 5; ++i) trend.add(100);
  const Backlog backlog = trend.judge({1, 1, 1});
  EXPECT_EQ(backlog.verdict, LoadVerdict::unknown);
  EXPECT_DOUBLE_EQ(backlog.mean_bytes, 100);
}

// A backlog that is still coming to rest grows too.
TEST(BacklogTrend, WaitsForSeveralRelaxationTimes) {
  BacklogTrend trend;
  for (std::uint64_t i = 0; i < 120; ++i) trend.add(i * 10'000);
  EXPECT_EQ(trend.judge({kInterval, kOffered, 1000 * kInterval}).verdict, LoadVerdict::unknown);
  EXPECT_EQ(trend.judge({kInterval, kOffered, 10 * kInterval}).verdict, LoadVerdict::diverges);
  EXPECT_EQ(trend.judge({kInterval, kOffered / 10, 100 * kInterval}).verdict, LoadVerdict::diverges) << "beyond doubt";
  EXPECT_EQ(trend.judge({kInterval, kOffered / 10, 1000 * kInterval}).verdict, LoadVerdict::unknown);
}

}  // namespace
}  // namespace homa::simulation
