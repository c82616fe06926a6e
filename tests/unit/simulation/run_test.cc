// Whole runs, small ones: what must hold whatever the numbers are.
#include "simulation/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace homa::simulation {
namespace {

using ::testing::HasSubstr;

RunSpec small(const char* workload) {
  RunSpec spec;
  spec.topology = "small";
  spec.workload = workload;
  spec.load = 0.6;
  spec.messages = 4000;
  spec.warm_up_us = 200;
  spec.buckets = 5;
  return spec;
}

RunResult result_of(const RunSpec& spec) {
  auto result = run(spec, {});
  EXPECT_TRUE(result) << result.error;
  return result ? *result : RunResult();
}

TEST(Run, TheSameSeedGivesTheSameBytes) {
  RunSpec spec = small("w2");
  const std::string first = deterministic_json(result_of(spec)).dump();
  EXPECT_EQ(deterministic_json(result_of(spec)).dump(), first);
  spec.seed = 2;
  EXPECT_NE(deterministic_json(result_of(spec)).dump(), first);
}

TEST(Run, TheCallbackDoesNotChangeTheResult) {
  const RunSpec spec = small("w2");
  const std::string alone = deterministic_json(result_of(spec)).dump();
  const auto watched = run(spec, [](const Progress&) { return true; });
  ASSERT_TRUE(watched);
  EXPECT_EQ(deterministic_json(*watched).dump(), alone);
}

TEST(Run, EveryMeasuredMessageIsDeliveredAndNoneIsFasterThanAlone) {
  const RunResult result = result_of(small("w1"));
  EXPECT_EQ(result.end, RunEnd::complete);
  EXPECT_EQ(result.messages_measured, 4000u);
  EXPECT_EQ(result.messages_unfinished, 0u);
  EXPECT_EQ(result.messages_failed, 0u);
  EXPECT_EQ(result.all.count, 4000u);
  EXPECT_GE(result.all.p50.value, 1.0);
  for (const SizeBucket& bucket : result.buckets) {
    EXPECT_GE(bucket.slowdown.p50.value, 1.0);
    EXPECT_GE(bucket.slowdown.p99.value, bucket.slowdown.p50.value);
    EXPECT_LT(bucket.slowdown.p99.value, 4.0);
  }
}

// What is offered is carried: headers and grants make of 60 % total load the 60 % of the links.
TEST(Run, TheLoadIsWhatWasAsked) {
  RunSpec spec = small("w1");
  spec.messages = 60000;
  const RunResult result = result_of(spec);
  EXPECT_NEAR(result.rates.link_utilisation, 0.6, 0.01);
  EXPECT_NEAR(result.rates.goodput_gbps, 0.6 * 10 * 0.657, 0.08);
  spec.load_kind = LoadKind::application;
  spec.load = 0.3;
  EXPECT_NEAR(result_of(spec).rates.goodput_gbps, 3.0, 0.06);
}

TEST(Run, OverloadDivergesAndStops) {
  RunSpec spec = small("10000");
  spec.load_kind = LoadKind::application;
  spec.load = 1;
  spec.messages = 30000;
  const RunResult result = result_of(spec);
  EXPECT_EQ(result.end, RunEnd::diverged);
  EXPECT_EQ(result.backlog.verdict, LoadVerdict::diverges);
  EXPECT_GT(result.messages_measured, 0u);
}

TEST(Run, ACallbackMayStopIt) {
  RunSpec spec = small("w4");
  spec.messages = 10000000;
  const auto result = run(spec, [](const Progress&) { return false; });
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, RunEnd::stopped);
}

// The bound: alone a message has slowdown 1, and no protocol has a better mean over all.
TEST(Run, TheOracleIsALowerBound) {
  RunSpec spec = small("w2");
  spec.messages = 20000;
  const RunResult real = result_of(spec);
  spec.policy = "oracle";
  const RunResult ideal = result_of(spec);
  EXPECT_DOUBLE_EQ(ideal.shortest_half.p50.value, 1);
  EXPECT_LT(ideal.all.mean.value, real.all.mean.value);
  EXPECT_LT(ideal.shortest_half.p99.value, real.shortest_half.p99.value);
}

TEST(Run, IncastControlKeepsThroughputAndPreventsLoss) {
  RunSpec spec = small("w1");
  spec.topology = "homa18-shared";
  spec.carrier = RunCarrier::datagram;
  spec.policy = "libhoma";
  spec.generator = Generator::incast;
  spec.incast_width = 1000;
  spec.messages = 4000;
  spec.warm_up_us = 20000;
  const RunResult with = result_of(spec);
  EXPECT_EQ(with.messages_measured, 4000u);
  EXPECT_EQ(with.messages_failed, 0u);
  EXPECT_EQ(with.drops.full_buffers, 0u);
  ASSERT_EQ(with.flows.size(), 1u);
  EXPECT_GT(with.flows[0].gbps, 8.5);
  spec.incast_control = false;
  const RunResult without = result_of(spec);
  const auto deepest = [](const RunResult& result) { return result.ports[1].max_bytes; };  // host_down
  EXPECT_GT(deepest(without), 4 * deepest(with));
}

// A and B saturate C; A's messages to D, which shares no congested link but A's own, keep their rate.
TEST(Run, AVictimKeepsItsShare) {
  RunSpec spec = small("1000");
  spec.topology = "homa18-shared";
  spec.carrier = RunCarrier::datagram;
  spec.policy = "libhoma";
  spec.generator = Generator::victim;
  spec.load_kind = LoadKind::application;
  spec.load = 0.2;
  const RunResult result = result_of(spec);
  ASSERT_EQ(result.flows.size(), 3u);
  EXPECT_GT(result.flows[0].gbps + result.flows[1].gbps, 8.0);
  EXPECT_NEAR(result.flows[2].gbps, 2.0, 0.15);
  EXPECT_NEAR(result.flows[2].gbps / result.flows[2].offered_gbps, 1, 0.01);
}

TEST(Run, LostDatagramsComeAgain) {
  RunSpec spec = small("w2");
  spec.carrier = RunCarrier::datagram;
  spec.policy = "libhoma";
  spec.load_kind = LoadKind::application;
  spec.load = 0.3;
  spec.loss_rate = 0.01;
  const RunResult result = result_of(spec);
  EXPECT_EQ(result.end, RunEnd::complete);
  EXPECT_EQ(result.messages_measured, 4000u);
  EXPECT_GT(result.drops.random_losses, 0u);
  EXPECT_GT(result.traffic.retransmitted_bytes, 0u);
}

TEST(Run, BadInputIsOneLineThatNamesIt) {
  RunSpec spec = small("w1");
  spec.workload = "w7";
  EXPECT_THAT(run(spec, {}).error, HasSubstr("w7"));
  spec = small("w1");
  spec.topology = "nowhere";
  EXPECT_THAT(run(spec, {}).error, HasSubstr("nowhere"));
  spec = small("w1");
  spec.load = 2;
  EXPECT_THAT(run(spec, {}).error, HasSubstr("load"));
}

}  // namespace
}  // namespace homa::simulation
