// Faults that users of other transports met, as scenarios: calls that never ended, and how they end here.
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/scenario.h"

namespace homa::sim {
namespace {

using protocol::CallStatus;
constexpr std::uint64_t kWindow = 64 * 1024;

// An operation to a process that had exited never completed and could not be cancelled.
TEST(FieldLiveness, field_05_cancel_after_the_peer_exited) {
  Scenario s;
  const auto call = s.one_way(0, 1, 1 << 20);
  ASSERT_TRUE(s.run_until([&] { return s.counters(0).data_sent >= 10; }, 1s));
  s.host(1).crash();
  s.circumstances.disrupted = true;
  s.run_for(20ms);
  if (!s.ended(call)) {
    EXPECT_TRUE(s.peer(0).cancel(call));
  }
  s.run_for(1ms);
  EXPECT_TRUE(s.ended(call));
  EXPECT_EQ(s.record(call).ends, 1u);
  EXPECT_EQ(s.judge(), "");
}

TEST(FieldLiveness, field_05_without_cancel_the_timeout_ends_it) {
  Scenario s;
  const auto call = s.one_way(0, 1, 1 << 20);
  ASSERT_TRUE(s.run_until([&] { return s.counters(0).data_sent >= 10; }, 1s));
  s.host(1).crash();
  s.circumstances.disrupted = true;
  EXPECT_TRUE(s.run_calls(2s));
  EXPECT_NE(s.record(call).status, CallStatus::ok);
  EXPECT_EQ(s.judge(), "");
}

// After the retransmission limit the engine used freed state and crashed.
TEST(FieldLiveness, field_06_total_loss_fails_calls_and_nothing_else) {
  ScenarioSettings settings;
  settings.hosts = 3;
  Scenario s(settings);
  std::vector<Ledger::Index> calls;
  for (std::uint64_t length : {1000u, 60'000u, 200'000u, 1'000'000u}) calls.push_back(s.rpc(0, 1, length, length));
  s.run_for(300us);
  FaultRule rule = lose(1);
  rule.to = s.host(1).address().host;
  s.faults().add(rule);
  rule.from = rule.to;
  rule.to.reset();
  s.faults().add(rule);
  s.circumstances.disrupted = true;
  for (int i = 0; i < 20; ++i) {
    const auto other = s.rpc(0, 2, 20'000, 20'000);
    ASSERT_TRUE(s.run_until([&] { return s.ended(other); }, 50ms));
    EXPECT_TRUE(s.ended_ok(other));
    s.run_for(80ms);
  }
  EXPECT_TRUE(s.run_calls(1s));
  for (const auto call : calls) EXPECT_TRUE(s.ended(call));
  EXPECT_EQ(s.judge(), "");
}

class Grants : public ::testing::TestWithParam<std::uint64_t> {};

// Messages longer than the unscheduled window stopped: a lost grant never came again.
TEST_P(Grants, field_08_first_grant_lost) {
  Scenario s;
  s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(1s));
  const std::size_t rule = s.faults().add(drop_nth(kGrant, 0));
  const auto call = s.one_way(0, 1, GetParam());
  ASSERT_TRUE(s.run_calls(1s));
  const Duration ideal = Rate::gigabits_per_second(10).time_for(GetParam());
  EXPECT_LT(s.record(call).ended - s.record(call).started, ideal * 2 + 6ms);
  EXPECT_EQ(s.faults().acted_on(rule), 1u);
  EXPECT_EQ(s.judge(), "");
}

TEST_P(Grants, field_08_every_grant_lost_for_20_ms) {
  Scenario s;
  s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(1s));
  FaultRule rule = drop_nth(kGrant, 0, ~std::uint64_t{0});
  rule.end = s.now() + 20ms;
  s.faults().add(rule);
  const auto call = s.rpc(0, 1, GetParam(), GetParam());
  ASSERT_TRUE(s.run_calls(1s));
  // Probes back off while nothing gets through: one more interval of what they had grown to.
  EXPECT_LT(s.record(call).ended, rule.end + 40ms);
  EXPECT_EQ(s.judge(), "");
}

INSTANTIATE_TEST_SUITE_P(Lengths, Grants, ::testing::Values(kWindow + 1, 10 * kWindow, 1 << 20));

// A network card dropped segments above the MTU silently; only retransmissions got through.
TEST(FieldLiveness, field_09_black_hole_above_1500) {
  ScenarioSettings settings;
  settings.config.initial_datagram = 8952;
  Scenario s(settings);
  s.faults().add(black_hole(1452));
  const auto call = s.rpc(0, 1, 300'000, 300'000);
  EXPECT_TRUE(s.run_calls(2s));
  EXPECT_TRUE(s.ended_ok(call));
  EXPECT_GE(s.counters(0).mtu_black_holes + s.counters(1).mtu_black_holes, 1u);
  // Once learnt, it costs nothing any more.
  const auto again = s.rpc(0, 1, 300'000, 300'000);
  EXPECT_TRUE(s.run_calls(2s));
  EXPECT_LT(s.record(again).ended - s.record(again).started, 3ms);
  EXPECT_EQ(s.judge(), "");
}

// EMSGSIZE was ignored and the same size sent until the timeout.
TEST(FieldLiveness, field_10_emsgsize_shrinks_at_once) {
  Scenario s;
  s.host(0).set_interface_limit(1232);
  const auto call = s.rpc(0, 1, 100'000, 100);
  EXPECT_TRUE(s.run_calls(1s));
  EXPECT_TRUE(s.ended_ok(call));
  EXPECT_LT(s.record(call).ended - s.record(call).started, 2ms);
  EXPECT_EQ(s.judge(), "");
}

// Zero-length messages were taken for "peer closed".
TEST(FieldLiveness, field_14_zero_length_with_each_packet_lost) {
  for (std::uint64_t lost = 0; lost < 12; ++lost) {
    for (const auto& [request, response] : {std::pair{0, 0}, std::pair{0, 100}, std::pair{100, 0}}) {
      Scenario s;
      s.faults().add(drop_nth(kAnyKind, lost));
      const auto call = s.rpc(0, 1, static_cast<std::uint64_t>(request), static_cast<std::uint64_t>(response));
      const auto message = s.one_way(1, 0, 0);
      EXPECT_EQ(s.judge(), "") << lost;
      EXPECT_TRUE(s.ended_ok(call)) << lost;
      EXPECT_TRUE(s.ended_ok(message)) << lost;
    }
  }
}

// A reply that came after the client's timeout tore the whole connection down.
TEST(FieldLiveness, field_21_late_reply_hurts_nobody_else) {
  Scenario s;
  CallRecord late;
  late.server = 1;
  late.request_length = 100;
  late.response_length = 3000;
  late.behaviour = Behaviour::reply_later;
  late.service_time = 11ms;
  late.deadline = s.now() + 10ms;
  const auto call = s.call(0, late);
  std::vector<Ledger::Index> others;
  CallRecord other = late;
  other.deadline = kNever;
  other.service_time = 15ms;
  for (int i = 0; i < 50; ++i) others.push_back(s.call(0, other));
  EXPECT_EQ(s.judge(), "");
  EXPECT_EQ(s.record(call).status, CallStatus::deadline_exceeded);
  for (const auto index : others) EXPECT_TRUE(s.ended_ok(index));
}

// Set-up packets that were lost ended in an error instead of a retry.
TEST(FieldLiveness, field_27_five_set_up_packets_lost_each_way) {
  ScenarioSettings settings;
  settings.config.peer_timeout = 5s;  // ten attempts back off to a second
  Scenario s(settings);
  s.faults().add(drop_nth(kHello, 0, 5));
  s.faults().add(drop_nth(kHelloAck, 0, 5));
  const auto call = s.rpc(0, 1, 100, 100);
  EXPECT_EQ(s.judge(), "");
  EXPECT_TRUE(s.ended_ok(call)) << protocol::to_string(s.record(call).status);
}

TEST(FieldLiveness, field_27_set_up_packets_copied_and_reordered) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ScenarioSettings settings;
    settings.seed = seed;
    Scenario s(settings);
    FaultRule rule;
    rule.duplicate = 1;
    rule.duplicate_delay = 5ms;
    rule.reorder = 0.5;
    rule.reorder_delay = 1ms;
    rule.kinds = kHello | kHelloAck;
    s.faults().add(rule);
    for (int i = 0; i < 5; ++i) s.rpc(0, 1, 100, 100);
    s.rpc(1, 0, 100, 100);
    EXPECT_EQ(s.judge(), "") << seed;
    EXPECT_EQ(s.counters(0).calls_succeeded, 5u) << seed;
  }
}

TEST(FieldLiveness, field_27_nobody_there_is_one_clear_error) {
  Scenario s;
  s.host(1).crash();
  s.circumstances.addresses_vanish = true;
  const auto call = s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(1500ms));
  EXPECT_EQ(s.record(call).status, CallStatus::peer_unreachable);
  EXPECT_LT(s.counters(0).hellos_sent, 30u);
  EXPECT_EQ(s.judge(), "");
}

// A hint of the network ends the wait early, when nothing contradicts it.
TEST(FieldLiveness, field_04_icmp_ends_the_wait) {
  Scenario s;
  s.host(1).crash();
  s.circumstances.addresses_vanish = true;
  s.host(1).on_unreachable = [&](const Parcel& p) {
    s.endpoint(0).network_error(p.to, protocol::TransmitFailure::unreachable, s.now());
  };
  const auto call = s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(1500ms));
  EXPECT_EQ(s.record(call).status, CallStatus::peer_unreachable);
  EXPECT_EQ(s.judge(), "");
}

// With retransmission on, a simulation never ended: a timer was always armed.
TEST(FieldLiveness, field_47_an_idle_endpoint_has_no_deadline) {
  for (double loss : {0.0, 0.05, 0.3}) {
    Scenario s;
    s.faults().add(lose(loss));
    for (int i = 0; i < 20; ++i) {
      s.rpc(0, 1, static_cast<std::uint64_t>(i) * 5000, 100);
      s.rpc(1, 0, 100, static_cast<std::uint64_t>(i) * 5000);
      s.one_way(0, 1, 100);
    }
    EXPECT_EQ(s.judge(), "");
    EXPECT_EQ(s.endpoint(0).next_deadline(), kNever);
    EXPECT_EQ(s.endpoint(1).next_deadline(), kNever);
  }
}

}  // namespace
}  // namespace homa::sim
