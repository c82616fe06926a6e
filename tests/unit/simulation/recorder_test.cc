#include "simulation/recorder.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace homa::simulation {
namespace {

TEST(Recorder, BucketsHoldEqualCountsAndEveryMessageOnce) {
  const auto workload = Workload::parse("10 0.1\n20 0.5\n30 0.9\n1000 1\n", "f");
  ASSERT_TRUE(workload);
  Recorder recorder(*workload, 10);
  Rng rng(1);
  for (int i = 0; i < 10000; ++i) recorder.add(workload->sample(rng), 3us, 1us);
  RunResult result;
  recorder.report(result);
  ASSERT_EQ(result.buckets.size(), 4u);  // four sizes cannot fill ten
  std::uint64_t count = 0;
  for (const SizeBucket& bucket : result.buckets) count += bucket.slowdown.count;
  EXPECT_EQ(count, 10000u);
  EXPECT_EQ(result.buckets[1].smallest_bytes, 20u);
  EXPECT_EQ(result.buckets[1].largest_bytes, 20u);
  EXPECT_DOUBLE_EQ(result.buckets[1].count_fraction, 0.5);
  EXPECT_EQ(result.shortest_half.count, result.buckets[0].slowdown.count + result.buckets[1].slowdown.count);
  EXPECT_DOUBLE_EQ(result.all.p50.value, 3);
  EXPECT_DOUBLE_EQ(result.latency.p99_us, 3);
}

// Of many repetitions with known distribution, the intervals must miss the truth about once in twenty.
TEST(Recorder, IntervalsCoverTheTruth) {
  Rng rng(8);
  constexpr int kRuns = 1000;
  int missed_p50 = 0;
  int missed_p99 = 0;
  int missed_mean = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<float> samples(2000);
    for (float& sample : samples) sample = static_cast<float>(rng.unit());
    const SlowdownStatistics statistics = statistics_of(samples);
    missed_p50 += statistics.p50.low > 0.5 || statistics.p50.high < 0.5 ? 1 : 0;
    missed_p99 += statistics.p99.low > 0.99 || statistics.p99.high < 0.99 ? 1 : 0;
    missed_mean += statistics.mean.low > 0.5 || statistics.mean.high < 0.5 ? 1 : 0;
  }
  for (const int missed : {missed_p50, missed_p99, missed_mean}) {
    EXPECT_GT(missed, 20);
    EXPECT_LT(missed, 85);
  }
}

TEST(Recorder, FewSamplesDoNoHarm) {
  EXPECT_EQ(statistics_of({}).count, 0u);
  const SlowdownStatistics one = statistics_of({2.0f});
  EXPECT_DOUBLE_EQ(one.p99.value, 2);
  EXPECT_DOUBLE_EQ(one.mean.low, 2);
}

}  // namespace
}  // namespace homa::simulation
