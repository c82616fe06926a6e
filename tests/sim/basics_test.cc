// Messages of every boundary size arrive, in a network that does nothing wrong.
#include <gtest/gtest.h>

#include "testing/scenario.h"

namespace homa::sim {
namespace {

/// Unscheduled window of the defaults, and what one packet of the initial size holds.
constexpr std::uint64_t kWindow = 64 * 1024;
constexpr std::uint64_t kFirstPacket = 1452 - 16 - 38;
constexpr std::uint64_t kMega = 1 << 20;

class Sizes : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Sizes, RpcRequest) {
  Scenario s;
  const auto call = s.rpc(0, 1, GetParam(), 10);
  EXPECT_EQ(s.judge(), "");
  EXPECT_TRUE(s.ended_ok(call));
}

TEST_P(Sizes, RpcResponse) {
  Scenario s;
  const auto call = s.rpc(0, 1, 10, GetParam());
  EXPECT_EQ(s.judge(), "");
  EXPECT_TRUE(s.ended_ok(call));
}

TEST_P(Sizes, OneWay) {
  Scenario s;
  const auto call = s.one_way(0, 1, GetParam());
  EXPECT_EQ(s.judge(), "");
  EXPECT_TRUE(s.ended_ok(call));
}

TEST_P(Sizes, NothingIsSentTwiceInAGoodNetwork) {
  Scenario s;
  s.rpc(0, 1, GetParam(), GetParam());
  s.one_way(1, 0, GetParam());
  EXPECT_EQ(s.judge(), "");
  EXPECT_EQ(s.counters(0).data_resent + s.counters(1).data_resent, 0u);
}

INSTANTIATE_TEST_SUITE_P(Boundaries, Sizes,
                         ::testing::Values(0, 1, kFirstPacket - 1, kFirstPacket, kFirstPacket + 1, kWindow - 1, kWindow,
                                           kWindow + 1, kMega - 1, kMega, kMega + 1, 10 * kMega));

TEST(Basics, ASmallRpcTakesOneRoundTripOnceThePeerIsKnown) {
  Scenario s;
  s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(1s));
  const auto call = s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(1s));
  // Four links of 1 us and eight serializations of less than 0.2 us.
  EXPECT_LT(s.record(call).ended - s.record(call).started, 6us);
  EXPECT_EQ(s.judge(), "");
}

TEST(Basics, FirstContactCostsOneMoreRoundTrip) {
  Scenario s;
  const auto call = s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(1s));
  EXPECT_LT(s.record(call).ended - s.record(call).started, 12us);
}

TEST(Basics, AnIdempotentCallRidesWithTheHello) {
  Scenario s;
  CallRecord wish;
  wish.server = 1;
  wish.request_length = 100;
  wish.response_length = 20;  // an answer to an unproven address may not be three times as long
  wish.idempotent = true;
  const auto call = s.call(0, wish);
  ASSERT_TRUE(s.run_calls(1s));
  EXPECT_LT(s.record(call).ended - s.record(call).started, 6us);
  EXPECT_EQ(s.judge(), "");
}

TEST(Basics, TheRateOfALinkIsUsed) {
  Scenario s;
  const auto call = s.one_way(0, 1, 10 * kMega);
  ASSERT_TRUE(s.run_calls(1s));
  const Duration ideal = Rate::gigabits_per_second(10).time_for(10 * kMega);
  EXPECT_LT(s.record(call).ended - s.record(call).started, ideal * 5 / 4);
}

}  // namespace
}  // namespace homa::sim
