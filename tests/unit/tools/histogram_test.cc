#include "histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"

namespace homa::tools {
namespace {

std::uint64_t nearest_rank(const std::vector<std::uint64_t>& sorted, double percent) {
  const auto rank = static_cast<std::size_t>(std::ceil(percent / 100.0 * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

TEST(Histogram, PercentilesAgreeWithASortedVectorWithinHalfAPercent) {
  Rng rng(1);
  for (const double spread : {8.0, 20.0, 40.0, 60.0}) {
    Histogram histogram;
    std::vector<std::uint64_t> values;
    for (int i = 0; i < 20000; ++i) {
      const auto value = static_cast<std::uint64_t>(std::exp2(rng.unit() * spread));
      values.push_back(value);
      histogram.record(value);
    }
    std::sort(values.begin(), values.end());
    for (const double percent : {0.0, 1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
      const auto exact = static_cast<double>(nearest_rank(values, percent));
      EXPECT_NEAR(static_cast<double>(histogram.percentile(percent)), exact, exact * 0.005)
          << "percent " << percent << " spread " << spread;
    }
    EXPECT_EQ(histogram.smallest(), values.front());
    EXPECT_EQ(histogram.largest(), values.back());
  }
}

TEST(Histogram, SmallValuesAreExact) {
  for (std::uint64_t value = 0; value < 256; ++value) {
    Histogram histogram;
    histogram.record(value);
    histogram.record(value + 1000);
    EXPECT_EQ(histogram.percentile(50), value);
  }
}

TEST(Histogram, TakesTheWholeRange) {
  Histogram histogram;
  histogram.record(std::uint64_t{0});
  histogram.record(UINT64_MAX);
  EXPECT_EQ(histogram.percentile(50), 0u);
  EXPECT_EQ(histogram.percentile(100), UINT64_MAX);
  EXPECT_EQ(histogram.count(), 2u);
}

TEST(Histogram, ReportedValuesGrowWithThePercentile) {
  Rng rng(2);
  Histogram histogram;
  for (int i = 0; i < 5000; ++i) histogram.record(rng.below(1'000'000));
  std::uint64_t before = 0;
  for (double percent = 0; percent <= 100; percent += 0.25) {
    EXPECT_GE(histogram.percentile(percent), before);
    before = histogram.percentile(percent);
  }
}

TEST(Histogram, MergeEqualsRecordingEverythingInOne) {
  Rng rng(3);
  Histogram all;
  Histogram parts[3];
  for (int i = 0; i < 9999; ++i) {
    const std::uint64_t value = rng.below(1u << 30);
    all.record(value);
    parts[i % 3].record(value);
  }
  parts[0].merge(parts[1]);
  parts[0].merge(parts[2]);
  for (const double percent : {1.0, 50.0, 99.0}) EXPECT_EQ(parts[0].percentile(percent), all.percentile(percent));
  EXPECT_EQ(parts[0].count(), all.count());
  EXPECT_EQ(parts[0].smallest(), all.smallest());
  EXPECT_EQ(parts[0].largest(), all.largest());
  EXPECT_DOUBLE_EQ(parts[0].mean(), all.mean());
}

TEST(Histogram, EmptyAnswersZero) {
  const Histogram histogram;
  EXPECT_TRUE(histogram.empty());
  EXPECT_EQ(histogram.percentile(99), 0u);
  EXPECT_EQ(histogram.smallest(), 0u);
  EXPECT_EQ(histogram.mean(), 0);
}

TEST(Histogram, NegativeDurationsCountAsZero) {
  Histogram histogram;
  histogram.record(Duration(-5));
  EXPECT_EQ(histogram.largest(), 0u);
}

}  // namespace
}  // namespace homa::tools
