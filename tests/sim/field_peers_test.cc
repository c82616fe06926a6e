// Faults that users of other transports met, as scenarios: unequal, vanishing, hostile and very many peers.
#include <gtest/gtest.h>

#include "testing/hostile.h"
#include "testing/scenario.h"

namespace homa::sim {
namespace {

using protocol::CallStatus;
using protocol::Event;

// Hosts with different link speeds, windows and MTU settings had tails of 93 ms.
TEST(FieldPeers, field_11_any_mix_of_settings_works) {
  ScenarioSettings settings;
  settings.adjust = [](std::size_t i, HostSettings& host) {
    host.uplink.rate = Rate::gigabits_per_second(i == 0 ? 40 : 10);
    host.config.unscheduled_bytes = i == 0 ? 60'000 : 10'000;
    host.config.priority_levels = i == 0 ? 8 : 2;
    if (i == 1) host.config.max_datagram = host.config.initial_datagram = 1232;
  };
  Scenario s(settings);
  for (std::uint64_t length : {1u, 9'999u, 10'000u, 10'001u, 59'999u, 60'000u, 60'001u, 500'000u}) {
    const auto call = s.rpc(0, 1, length, length);
    ASSERT_TRUE(s.run_calls(1s));
    const Duration ideal = 2 * Rate::gigabits_per_second(10).time_for(length);
    EXPECT_LT(s.record(call).ended - s.record(call).started, ideal * 2 + 100us) << length;
  }
  EXPECT_EQ(s.judge(), "");
}

// A client that closed while answers were under way gave the server a meaningless error.
TEST(FieldPeers, field_17_server_learns_who_closed) {
  ScenarioSettings settings;
  settings.hosts = 3;
  Scenario s(settings);
  CallRecord wish;
  wish.server = 1;
  wish.request_length = 8000;
  wish.response_length = 8000;
  wish.behaviour = Behaviour::reply_later;
  wish.service_time = 300us;
  for (int i = 0; i < 100; ++i) s.call(0, wish);
  std::vector<Ledger::Index> others;
  for (int i = 0; i < 20; ++i) others.push_back(s.call(2, wish));
  s.run_for(400us);
  s.peer(0).close();
  ASSERT_TRUE(s.run_calls(2s));
  for (const auto index : others) EXPECT_TRUE(s.ended_ok(index));
  EXPECT_EQ(s.judge(), "");
  EXPECT_EQ(s.endpoint(1).usage().requests, 0u);
}

// Port scans and stray traffic during set-up made jobs hang or fail.
TEST(FieldPeers, field_26_stray_traffic_before_and_during_set_up) {
  ScenarioSettings settings;
  settings.config.max_unproven_associations = 64;
  Scenario s(settings);
  HostileSettings hostile;
  hostile.targets = {s.host(0).address(), s.host(1).address()};
  hostile.participants = hostile.targets;
  hostile.mean_gap = 5us;
  hostile.most = 4000;
  HostileTraffic traffic(s.medium(), s.network(), hostile, 3);
  traffic.start();
  s.run_for(5ms);
  const std::uint64_t memory = s.endpoint(1).usage().core_memory;
  for (int i = 0; i < 20; ++i) {
    const auto call = s.rpc(0, 1, 2000, 2000);
    ASSERT_TRUE(s.run_until([&] { return s.ended(call); }, 100ms));
    EXPECT_TRUE(s.ended_ok(call));
  }
  s.run_for(50ms);
  EXPECT_LT(s.endpoint(1).usage().core_memory, memory + (1 << 20));
  EXPECT_LE(s.endpoint(1).usage().unproven_associations, 64u);
  EXPECT_GT(s.counters(1).datagrams_malformed, 100u);
  EXPECT_EQ(s.judge(), "");
}

// Unexpected messages piled up until the receiver was killed for want of memory.
TEST(FieldPeers, field_39_a_receiver_that_stops_reading_pushes_back) {
  ScenarioSettings settings;
  settings.hosts = 21;
  settings.config.max_message_length = 1 << 20;
  settings.config.receive_memory = 4 << 20;
  settings.config.send_memory = 4 << 20;
  settings.config.peer_timeout = 5s;
  Scenario s(settings);
  s.circumstances.timer_slack = 2s;
  s.host(0).stop_reading(s.now() + 1s);
  std::uint64_t blocked = 0;
  for (std::size_t sender = 1; sender < 21; ++sender) {
    for (int i = 0; i < 12; ++i) {
      const auto index = s.one_way(sender, 0, 500'000);
      blocked += s.record(index).withdrawn ? 1u : 0u;
    }
  }
  EXPECT_GT(blocked, 0u);
  s.run_for(900ms);
  EXPECT_LE(s.host(0).buffers().in_use(), settings.config.receive_memory);
  EXPECT_GT(s.ledger().open_calls(), 50u);
  EXPECT_EQ(s.judge(), "");
}

// Small messages are held by slots, not by grants.
TEST(FieldPeers, field_39_small_messages_are_held_by_slots) {
  ScenarioSettings settings;
  settings.config.slots = 32;
  settings.config.max_waiting_calls = 100;
  Scenario s(settings);
  s.circumstances.timer_slack = 2s;
  s.one_way(1, 0, 10);
  ASSERT_TRUE(s.run_calls(1s));
  s.host(0).stop_reading(s.now() + 500ms);
  std::uint64_t blocked = 0;
  for (int i = 0; i < 1000; ++i) blocked += s.record(s.one_way(1, 0, 100)).withdrawn ? 1u : 0u;
  EXPECT_GE(blocked, 1000u - 32 - 100);
  s.run_for(400ms);
  EXPECT_LE(s.host(0).buffers().blocks(), 32u);
  EXPECT_EQ(s.judge(), "");
}

// Thousands of peers exhausted descriptors, ports and queues.
TEST(FieldPeers, field_41_many_peers_at_one_socket) {
  constexpr std::size_t kPeers = 10'000;
  ScenarioSettings settings;
  settings.hosts = kPeers + 1;
  settings.config.slots = 16;
  settings.config.max_associations = 2 * kPeers;  // both roles
  Scenario s(settings);
  for (std::size_t i = 1; i <= kPeers; ++i) s.rpc(i, 0, 100, 100);
  ASSERT_TRUE(s.run_calls(5s));
  for (std::size_t i = 1; i <= kPeers; ++i) s.rpc(0, i, 100, 100);
  EXPECT_EQ(s.judge(), "");
  EXPECT_EQ(s.endpoint(0).usage().calls, 0u);
  // Memory per idle peer: what docs promise for one association, both roles, with room for table growth.
  EXPECT_LT(s.endpoint(0).usage().core_memory / kPeers, 16u * 1024);
}

// After an abrupt exit both ends exchanged control packets in a loop.
TEST(FieldPeers, field_45_a_client_that_vanishes_starts_no_storm) {
  for (const bool comes_back : {false, true}) {
    Scenario s;
    for (int i = 0; i < 8; ++i) s.rpc(0, 1, 100, 1 << 20);
    s.run_for(500us);
    s.host(0).crash();
    s.circumstances.disrupted = true;
    s.run_for(1ms);
    const std::uint64_t control = s.wire().control_frames();
    if (comes_back) s.host(0).boot();
    s.run_for(5s);
    EXPECT_LT(s.wire().control_frames() - control, 200u);
    EXPECT_EQ(s.judge(), "");
  }
}

}  // namespace
}  // namespace homa::sim
