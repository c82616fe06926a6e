#include "protocol/rtt.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace homa::protocol {
namespace {

TEST(RttEstimator, HasNothingBeforeTheFirstSample) {
  const RttEstimator rtt;
  EXPECT_FALSE(rtt.has_sample());
  EXPECT_EQ(rtt.smoothed(), Duration::zero());
}

TEST(RttEstimator, FirstSampleTakesThePeersDelayOut) {
  RttEstimator rtt;
  rtt.sample(1050us, 1000us);
  EXPECT_EQ(rtt.smoothed(), 50us);
  EXPECT_EQ(rtt.minimum(), 50us);
  EXPECT_EQ(rtt.variance(), 25us);
}

TEST(RttEstimator, ConvergesToASteadyRoundTrip) {
  RttEstimator rtt;
  rtt.sample(1ms, 0us);
  for (int i = 0; i < 100; ++i) rtt.sample(100us, 0us);
  EXPECT_NEAR(static_cast<double>(rtt.smoothed().count()), 100'000, 100);
  EXPECT_LT(rtt.variance(), 1us);
  EXPECT_EQ(rtt.minimum(), 100us);
}

TEST(RttEstimator, StatedDelayNeverPushesASampleBelowTheMinimum) {
  RttEstimator rtt;
  rtt.sample(100us, 0us);
  for (int i = 0; i < 50; ++i) rtt.sample(120us, 1s);  // a lie: longer than the round trip itself
  EXPECT_EQ(rtt.minimum(), 100us);
  EXPECT_GE(rtt.smoothed(), 100us);
}

TEST(RttEstimator, StaysPositiveAndOrderedWhateverIsSaid) {
  Rng rng(1);
  for (int run = 0; run < 100; ++run) {
    RttEstimator rtt;
    for (int i = 0; i < 100; ++i) {
      const Duration round_trip(static_cast<Duration::rep>(rng.below(5'000'000)));
      rtt.sample(round_trip, Duration(static_cast<Duration::rep>(rng.below(std::uint64_t{1} << 32))));
      ASSERT_TRUE(rtt.has_sample());
      ASSERT_GE(rtt.minimum().count(), 0);
      ASSERT_GT(rtt.smoothed().count(), 0);
      ASSERT_GE(rtt.variance().count(), 0);
      ASSERT_LE(rtt.minimum(), rtt.latest());
    }
  }
}

}  // namespace
}  // namespace homa::protocol
