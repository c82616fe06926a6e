// Shortest first at senders and receivers, incast without overflow, and no message starves.
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/scenario.h"

namespace homa::sim {
namespace {

constexpr std::uint64_t kMega = 1 << 20;

ScenarioSettings star(std::size_t hosts) {
  ScenarioSettings settings;
  settings.hosts = hosts;
  settings.link.rate = Rate::gigabits_per_second(10);
  settings.config.uplink = settings.config.downlink = settings.link.rate;  // as an operator would who cares for tails
  return settings;
}

/// Everybody has met everybody.
void introduce(Scenario& s, std::size_t hosts) {
  for (std::size_t a = 0; a < hosts; ++a) {
    for (std::size_t b = 0; b < hosts; ++b) {
      if (a != b) s.rpc(a, b, 2000, 2000);
    }
  }
  s.run_calls(1s);
  s.run_for(5ms);
}

Duration took(const Scenario& s, Ledger::Index call) {
  return s.record(call).ended - s.record(call).started;
}

TEST(Scheduling, ShortOvertakesLongAtTheSender) {
  Scenario s(star(3));
  introduce(s, 3);
  const auto to_same = s.one_way(0, 1, 5 * kMega);
  s.run_for(500us);
  const auto same_peer = s.rpc(0, 1, 100, 100);
  const auto other_peer = s.rpc(0, 2, 100, 100);
  ASSERT_TRUE(s.run_until([&] { return s.ended(same_peer) && s.ended(other_peer); }, 10ms));
  EXPECT_FALSE(s.ended(to_same));
  // What waits in the card is ahead: at most 16 KB and a train of 10 us; then a round trip.
  EXPECT_LT(took(s, same_peer), 60us);
  EXPECT_LT(took(s, other_peer), 60us);
  EXPECT_EQ(s.judge(), "");
}

TEST(Scheduling, ShortOvertakesLongAtTheReceiver) {
  Scenario s(star(3));
  introduce(s, 3);
  const auto lengthy = s.one_way(0, 2, 10 * kMega);
  s.run_for(1ms);
  const auto brief = s.one_way(1, 2, 200'000);  // needs grants, too
  ASSERT_TRUE(s.run_until([&] { return s.record(brief).deliveries == 1; }, 10ms));
  const Duration ideal = Rate::gigabits_per_second(10).time_for(200'000);
  EXPECT_LT(s.now() - s.record(brief).started, 2 * ideal + 60us);
  EXPECT_FALSE(s.ended(lengthy));
  EXPECT_EQ(s.judge(), "");
}

TEST(Scheduling, TinyMessagesPassALoadedDownlink) {
  Scenario s(star(6));
  introduce(s, 6);
  for (std::size_t i = 1; i < 5; ++i) s.one_way(i, 0, 3 * kMega);
  s.run_for(1ms);
  Duration worst{};
  for (int i = 0; i < 20; ++i) {
    const auto tiny = s.rpc(5, 0, 100, 100);
    ASSERT_TRUE(s.run_until([&] { return s.ended(tiny); }, 10ms));
    worst = std::max(worst, took(s, tiny));
    s.run_for(50us);
  }
  EXPECT_LT(worst, 40us);
  EXPECT_EQ(s.judge(), "");
}

TEST(Scheduling, ClassComesBeforeLength) {
  Scenario s(star(2));
  introduce(s, 2);
  CallRecord wish;
  wish.server = 1;
  wish.one_way = true;
  wish.request_length = kMega;
  wish.message_class = 1;
  const auto lower = s.call(0, wish);
  wish.request_length = 2 * kMega;
  wish.message_class = 0;
  const auto urgent = s.call(0, wish);
  EXPECT_EQ(s.judge(), "");
  EXPECT_LT(s.record(urgent).ended, s.record(lower).ended);
}

// Twenty answers to one client at once: grants hold them back, the switch need not drop.
TEST(Scheduling, IncastOfResponses) {
  ScenarioSettings settings = star(21);
  settings.port.buffer_bytes = 400'000;
  Scenario s(settings);
  for (std::size_t i = 1; i < 21; ++i) s.rpc(0, i, 100, 100);
  ASSERT_TRUE(s.run_calls(1s));
  const Time start = s.now();
  for (std::size_t i = 1; i < 21; ++i) s.rpc(0, i, 100, 200'000);
  ASSERT_TRUE(s.run_calls(1s));
  const Duration ideal = Rate::gigabits_per_second(10).time_for(20 * 200'000);
  EXPECT_LT(s.now() - start, ideal * 3 / 2 + 100us);
  EXPECT_LE(s.downlink(0).peak_backlog(), settings.port.buffer_bytes);
  EXPECT_EQ(s.judge(), "");
  std::uint64_t again = 0;
  for (std::size_t i = 0; i < 21; ++i) again += s.counters(i).data_resent;
  // Nothing is dropped; a sender whose lane waits behind better ones for half a millisecond probes in vain.
  EXPECT_LE(again, 140u);  // of some 2,800
}

// Twenty senders that nobody asked: the first window of each may overflow the buffer, and all end all the same.
TEST(Scheduling, IncastOfRequestsRecovers) {
  ScenarioSettings settings = star(21);
  settings.port.buffer_bytes = 200'000;
  Scenario s(settings);
  for (std::size_t i = 1; i < 21; ++i) s.rpc(i, 0, 100, 100);
  ASSERT_TRUE(s.run_calls(1s));
  const Time start = s.now();
  for (std::size_t i = 1; i < 21; ++i) s.one_way(i, 0, 200'000);
  ASSERT_TRUE(s.run_calls(1s));
  const Duration ideal = Rate::gigabits_per_second(10).time_for(20 * 200'000);
  EXPECT_LT(s.now() - start, ideal * 2 + 5ms);
  EXPECT_EQ(s.judge(), "");
}

// An endless stream of shorter messages leaves the oldest its share.
TEST(Scheduling, TheOldestIsNotStarved) {
  ScenarioSettings settings = star(4);
  settings.config.oldest_share = 0.1;
  settings.config.overcommitment = 1;
  Scenario s(settings);
  introduce(s, 4);
  const auto lengthy = s.one_way(0, 3, 2 * kMega);
  // Three senders of messages that are always shorter fill the downlink for 60 ms.
  std::vector<Ledger::Index> current(3);
  for (std::size_t i = 1; i < 3; ++i) current[i] = s.one_way(i, 3, 300'000);
  const Time end = s.now() + 60ms;
  std::uint64_t brief = 0;
  while (s.now() < end && !s.ended(lengthy)) {
    for (std::size_t i = 1; i < 3; ++i) {
      if (!s.ended(current[i])) continue;
      ++brief;
      current[i] = s.one_way(i, 3, 300'000);
      s.one_way(i, 3, 300'000);
    }
    s.run_for(20us);
  }
  // 2 MB at a tenth of 10 Gbit/s: 17 ms.
  EXPECT_TRUE(s.ended(lengthy)) << "after " << brief << " shorter ones";
  EXPECT_EQ(s.judge(), "");
}

// Who waits for grants is not silent: when the sender that had them dies, the next goes on at once.
TEST(Scheduling, AWaitingMessageFollowsADeadSender) {
  ScenarioSettings settings = star(3);
  settings.config.overcommitment = 1;
  Scenario s(settings);
  introduce(s, 3);
  s.one_way(0, 2, 4 * kMega);
  s.run_for(100us);
  const auto waiting = s.one_way(1, 2, 5 * kMega);
  s.run_for(2ms);  // longer than a sender that owes bytes may be silent
  s.circumstances.disrupted = true;
  s.host(0).crash();
  const Duration ideal = Rate::gigabits_per_second(10).time_for(5 * kMega);
  EXPECT_TRUE(s.run_until([&] { return s.record(waiting).deliveries == 1; }, 2 * ideal + 2ms));
  s.host(0).boot();
  EXPECT_EQ(s.judge(), "");
}

TEST(Scheduling, NoTrainBlocksASlowLink) {
  ScenarioSettings settings = star(3);
  settings.link.rate = Rate::gigabits_per_second(1);
  settings.adjust = [](std::size_t, HostSettings& host) {
    host.nic_room = 3200;
    host.config.max_datagram = host.config.initial_datagram;  // no jumbo frames
  };
  Scenario s(settings);
  introduce(s, 3);
  s.one_way(0, 1, 5 * kMega);
  s.run_for(2ms);
  Duration worst{};
  for (int i = 0; i < 20; ++i) {
    const auto tiny = s.rpc(0, 2, 100, 100);
    ASSERT_TRUE(s.run_until([&] { return s.ended(tiny); }, 10ms));
    worst = std::max(worst, took(s, tiny));
    s.run_for(37us);
  }
  // Two packets in the card and one train of two packets: 50 us at 1 Gbit/s.
  EXPECT_LT(worst, 110us);
  EXPECT_EQ(s.judge(), "");
}

}  // namespace
}  // namespace homa::sim
