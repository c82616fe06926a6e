#include "sim/points.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/published.h"
#include "support.h"

namespace homa::tools::sim {
namespace {

TEST(Points, SeedsJoinAndOtherDifferencesDoNot) {
  auto other = result_with(1, {1, 2});
  other.spec.load = 0.5;
  const auto points = join_seeds({result_with(1, {1, 2}), other, result_with(2, {1, 2})});
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].runs.size(), 2u);
  EXPECT_EQ(points[1].runs.size(), 1u);
}

TEST(Points, TheIntervalOverSeedsIsStudents) {
  const Point point{{}, {result_with(1, {1}), result_with(2, {2}), result_with(3, {3})}};
  const auto estimate = number_over_seeds(point, [](const auto& run) { return run.buckets[0].slowdown.p50.value; });
  EXPECT_DOUBLE_EQ(estimate.value, 2);
  EXPECT_NEAR(estimate.high - estimate.value, 4.303 / std::sqrt(3.0), 1e-9);  // s = 1, two degrees of freedom
}

TEST(Points, OneSeedKeepsItsOwnInterval) {
  const Point point{{}, {result_with(1, {1.5})}};
  const auto estimate = over_seeds(point, [](const auto& run) { return run.buckets[0].slowdown.p50; });
  EXPECT_DOUBLE_EQ(estimate.low, 1.5 * 0.99);
}

TEST(Points, TheShortestHalfEndsWithTheBucketThatReachesIt) {
  EXPECT_DOUBLE_EQ(of_shortest_half(result_with(1, {1, 2, 10, 20}), Statistic::p50), 1.5);
  EXPECT_DOUBLE_EQ(of_shortest_half(result_with(1, {1, 2, 10, 20}), Statistic::p99), 3);
  EXPECT_DOUBLE_EQ(of_shortest_half(result_with(1, {1, 2, 3}), Statistic::p50), 1.5);
}

TEST(Points, CurvesJoinBucketsAndLeaveEmptyOnesOut) {
  auto second = result_with(2, {3, 8});
  second.buckets[1].slowdown.count = 0;
  const auto curve = slowdown_curve({{}, {result_with(1, {1, 6}), second}}, Statistic::p50);
  ASSERT_EQ(curve.size(), 2u);
  EXPECT_DOUBLE_EQ(curve[0].slowdown.value, 2);
  EXPECT_DOUBLE_EQ(curve[1].slowdown.value, 6);  // of the seed that has any
  EXPECT_DOUBLE_EQ(curve[1].from, 0.5);
  EXPECT_DOUBLE_EQ(curve[1].to, 1);
  EXPECT_EQ(curve[1].count, 1000u);
}

TEST(Points, ALoadIsSustainedOnlyWhenEveryRunCouldTell) {
  Point point{{}, {result_with(1, {1}), result_with(2, {1})}};
  for (auto& run : point.runs) run.backlog.verdict = simulation::LoadVerdict::sustainable;
  EXPECT_TRUE(point.is_sustained());
  point.runs[1].backlog.verdict = simulation::LoadVerdict::unknown;
  EXPECT_FALSE(point.is_sustained());
  EXPECT_FALSE(point.diverges());
  point.runs[1].backlog.verdict = simulation::LoadVerdict::diverges;
  EXPECT_TRUE(point.diverges());
}

TEST(Points, TroubleIsSaid) {
  Point point{{}, {result_with(1, {1}), result_with(2, {1})}};
  EXPECT_EQ(point.trouble(), "");
  point.runs[1].end = simulation::RunEnd::duration;
  EXPECT_EQ(point.trouble(), "cut short");
  point.runs[0].end = simulation::RunEnd::diverged;
  EXPECT_EQ(point.trouble(), "diverges");
}

/// The targets that the paper's curves give for the shortest half of messages at 80 % load.
TEST(PublishedResults, TheShortestHalfHasTheKnownValues) {
  const Published published = Published::load();
  const double p50[] = {1.22, 1.29, 1.47, 1.39, 1.23};
  const double p99[] = {1.88, 1.97, 2.15, 1.97, 1.44};
  for (int w = 0; w < 5; ++w) {
    const std::string workload = fmt::format("w{}", w + 1);
    EXPECT_NEAR(*published.shortest_half("Homa", workload, 0.8, Statistic::p50), p50[w], 0.006) << workload;
    EXPECT_NEAR(*published.shortest_half("Homa", workload, 0.8, Statistic::p99), p99[w], 0.006) << workload;
    EXPECT_TRUE(published.shortest_half("Homa", workload, 0.5, Statistic::p99)) << workload;
    EXPECT_TRUE(published.number("/most_load/" + workload)) << workload;
  }
  EXPECT_EQ(published.transports().size(), 6u);
  EXPECT_TRUE(published.curve("NDP", "w1", 0.8).empty());
  EXPECT_FALSE(published.curve("NDP", "w5", 0.8).empty());
  EXPECT_FALSE(published.shortest_half("Homa", "w1", 0.7, Statistic::p50));
  EXPECT_FALSE(published.number("/most_load/w9"));
}

TEST(PublishedResults, OfTheClusterByPriorityLevels) {
  const auto cluster = Published::load_cluster();
  ASSERT_EQ(cluster.transports().size(), 4u);
  const double one = *cluster.shortest_half("Homa 1 level", "w3", 0.76, Statistic::p99);
  const double eight = *cluster.shortest_half("Homa 8 levels", "w3", 0.76, Statistic::p99);
  EXPECT_NEAR(one / eight, 4.7, 0.1);  // "4 to 6 times" in the text
}

TEST(PublishedResults, MeansAreWeightedByOverlap) {
  const auto published = Published::parse("Homa,0.8,w1,10,50,2,4\nHoma,0.8,w1,20,50,6,8\n", "x.csv", {});
  EXPECT_DOUBLE_EQ(*published.mean_between("w1", 0.8, Statistic::p50, 0.25, 1), (2 * 0.25 + 6 * 0.5) / 0.75);
}

TEST(PublishedResults, MalformedLinesAreNamed) {
  try {
    Published::parse("# c\nHoma,0.8,w1,10\n", "x.csv", {});
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_EQ(std::string(error.what()).rfind("x.csv:2: ", 0), 0u) << error.what();
  }
}

}  // namespace
}  // namespace homa::tools::sim
