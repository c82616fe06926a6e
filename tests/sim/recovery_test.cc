// A single lost packet costs a few round trips, whichever it is.
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/scenario.h"

namespace homa::sim {
namespace {

struct Exchange {
  std::uint64_t request;
  std::uint64_t response;
  bool one_way;
};

/// Round trips are known, nothing is under way.
void warm_up(Scenario& s) {
  for (int i = 0; i < 4; ++i) s.rpc(0, 1, 20'000, 20'000);
  s.run_calls(1s);
  s.run_for(20ms);
}

Ledger::Index begin(Scenario& s, const Exchange& exchange) {
  return exchange.one_way ? s.one_way(0, 1, exchange.request) : s.rpc(0, 1, exchange.request, exchange.response);
}

class Recovery : public ::testing::TestWithParam<Exchange> {};

// "The data is there": delivered to the application, for a request; for a response the end of the call.
TEST_P(Recovery, AnySingleLossCostsFourRoundTripsAndAMillisecondAtMost) {
  Time undisturbed{};
  std::uint64_t datagrams = 0;
  Time start{};
  {
    Scenario s;
    warm_up(s);
    start = s.now();
    const std::uint64_t before = s.medium().pool.taken();
    const auto call = begin(s, GetParam());
    ASSERT_TRUE(s.run_calls(1s));
    undisturbed = s.record(call).ended;
    datagrams = s.medium().pool.taken() - before;
    ASSERT_EQ(s.judge(), "");
  }
  const std::uint64_t step = std::max<std::uint64_t>(datagrams / 60, 1);
  for (std::uint64_t lost = 0; lost < datagrams; lost += step) {
    Scenario s;
    warm_up(s);
    ASSERT_EQ(s.now(), start);
    const std::size_t rule = s.faults().add(drop_nth(kAnyKind, lost));
    const Duration rtt = s.endpoint(0).smoothed_rtt(s.host(1).address());
    ASSERT_GT(rtt, 0ns);
    const auto call = begin(s, GetParam());
    ASSERT_TRUE(s.run_calls(1s));
    EXPECT_LE(s.record(call).ended - undisturbed, 4 * rtt + 1ms) << "datagram " << lost << " of " << datagrams;
    EXPECT_EQ(s.judge(), "") << lost;
    EXPECT_LE(s.faults().acted_on(rule), 1u);
    EXPECT_LE(s.counters(0).data_resent + s.counters(1).data_resent, 4u) << "datagram " << lost;
  }
}

INSTANTIATE_TEST_SUITE_P(Exchanges, Recovery,
                         ::testing::Values(Exchange{100, 100, false}, Exchange{20'000, 100, false},
                                           Exchange{100, 20'000, false}, Exchange{300'000, 100, false},
                                           Exchange{100, 300'000, false}, Exchange{100, 0, true},
                                           Exchange{20'000, 0, true}, Exchange{300'000, 0, true}));

TEST(Recovery, TwoPercentLossCostsLittleThroughput) {
  Scenario s;
  warm_up(s);
  s.faults().add(lose(0.02));
  const auto call = s.one_way(0, 1, 10 << 20);
  ASSERT_TRUE(s.run_calls(5s));
  const Duration ideal = Rate::gigabits_per_second(10).time_for(10 << 20);
  EXPECT_LT(s.record(call).ended - s.record(call).started, 2 * ideal + 2ms);
  EXPECT_LT(s.counters(0).data_resent, s.counters(0).data_sent / 20);
  EXPECT_EQ(s.judge(), "");
}

TEST(Recovery, ReorderingIsNotTakenForLoss) {
  Scenario s;
  warm_up(s);
  FaultRule rule;
  rule.reorder = 0.2;
  rule.reorder_delay = 20us;
  s.faults().add(rule);
  for (int i = 0; i < 20; ++i) s.one_way(0, 1, 500'000);
  ASSERT_TRUE(s.run_calls(5s));
  // The threshold adapts: spurious retransmissions stay a small share.
  EXPECT_LT(s.counters(0).data_resent, s.counters(0).data_sent / 10);
  EXPECT_EQ(s.judge(), "");
}

TEST(Recovery, HalfOfAllLostStillEnds) {
  Scenario s;
  s.faults().add(lose(0.5));
  s.circumstances.disrupted = true;
  for (int i = 0; i < 10; ++i) s.rpc(0, 1, 10'000, 10'000);
  EXPECT_EQ(s.judge(), "");
}

}  // namespace
}  // namespace homa::sim
