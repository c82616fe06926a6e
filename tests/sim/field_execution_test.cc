// Faults that users of other transports met, as scenarios: what may run, and how often.
#include <gtest/gtest.h>

#include "testing/scenario.h"

namespace homa::sim {
namespace {

using protocol::CallStatus;

// A slow first copy of a request arrived after its retry had been served and acknowledged, and the server ran it again.
TEST(FieldExecution, field_01_late_copy_of_a_request_does_not_run_again) {
  Scenario s;
  Recorder requests([](const Parcel& p) { return (p.kinds & kData) != 0; });
  s.medium().observers.push_back(&requests);
  s.rpc(0, 1, 100, 100);
  s.rpc(0, 1, 0, 0);
  s.one_way(0, 1, 100);
  s.one_way(0, 1, 5);
  ASSERT_TRUE(s.run_calls(1s));
  const auto copies = requests.kept();
  const auto replay = [&] {
    for (const auto& kept : copies) s.inject(kept.bytes, kept.from, kept.to, false);
    s.run_for(100ms);
  };
  replay();
  s.run_for(10s);
  replay();
  s.run_for(60s);  // beyond idle_timeout: the association may be forgotten
  for (int i = 0; i < 3; ++i) s.rpc(0, 1, 50, 50);
  s.run_for(1s);
  replay();
  EXPECT_EQ(s.judge(), "");
  EXPECT_EQ(s.counters(1).requests_delivered, 7u);
}

// A retry before the reply: the copy arrives while the handler still works.
TEST(FieldExecution, field_01_copy_while_the_handler_runs) {
  Scenario s;
  Recorder requests([](const Parcel& p) { return (p.kinds & kDataFirst) != 0 && p.from.host.ip[15] == 0; });
  s.medium().observers.push_back(&requests);
  CallRecord wish;
  wish.server = 1;
  wish.request_length = 100;
  wish.response_length = 100;
  wish.behaviour = Behaviour::reply_later;
  wish.service_time = 50ms;
  s.call(0, wish);
  s.run_for(10ms);
  ASSERT_FALSE(requests.kept().empty());
  for (const auto& kept : std::vector<Recorder::Kept>(requests.kept())) s.inject(kept.bytes, kept.from, kept.to, false);
  EXPECT_EQ(s.judge(), "");
}

// The transport retried after a timeout though the server had executed the call; then the server restarted.
TEST(FieldExecution, field_02_restart_after_execution_is_outcome_unknown) {
  Scenario s;
  s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(1s));
  FaultRule replies = drop_nth(kData, 0, ~std::uint64_t{0});
  replies.from = s.host(1).address().host;
  s.faults().add(replies);
  const auto call = s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_until([&] { return s.record(call).deliveries == 1; }, 1s));
  s.run_for(5ms);
  s.host(1).crash();
  s.run_for(5ms);
  s.host(1).boot();
  s.faults().clear();
  s.circumstances.disrupted = true;
  ASSERT_TRUE(s.run_calls(3s));
  EXPECT_TRUE(s.record(call).status == CallStatus::outcome_unknown || s.record(call).status == CallStatus::peer_timeout)
      << protocol::to_string(s.record(call).status);
  EXPECT_EQ(s.record(call).deliveries, 1u);
  const auto next = s.rpc(0, 1, 100, 100);
  EXPECT_EQ(s.judge(), "");
  EXPECT_TRUE(s.ended_ok(next));
}

// The same, but the call is idempotent: it may and should succeed.
TEST(FieldExecution, field_02_idempotent_calls_survive_a_restart) {
  Scenario s;
  s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(1s));
  CallRecord wish;
  wish.server = 1;
  wish.request_length = 100;
  wish.response_length = 100;
  wish.idempotent = true;
  s.host(1).crash();
  const auto call = s.call(0, wish);
  s.run_for(50ms);
  s.host(1).boot();
  s.circumstances.disrupted = true;
  EXPECT_EQ(s.judge(), "");
  EXPECT_TRUE(s.ended_ok(call)) << protocol::to_string(s.record(call).status);
}

// After a lost session the client could not reach the same address again.
TEST(FieldExecution, field_03_the_next_call_after_a_restart_needs_nothing_new) {
  Scenario s;
  s.rpc(0, 1, 1000, 1000);
  ASSERT_TRUE(s.run_calls(1s));
  s.host(1).crash();
  s.host(1).boot();
  s.circumstances.disrupted = true;
  const auto first = s.rpc(0, 1, 100, 100);  // may learn of the restart
  ASSERT_TRUE(s.run_calls(3s));
  const auto second = s.rpc(0, 1, 100, 100);
  EXPECT_EQ(s.judge(), "");
  EXPECT_LE(s.record(first).deliveries, 1u);
  EXPECT_TRUE(s.ended_ok(second));
}

// A reply to a cancelled call, and packets with a stale id, made other calls stall.
TEST(FieldExecution, field_20_response_after_cancel_has_no_effect) {
  Scenario s;
  CallRecord wish;
  wish.server = 1;
  wish.request_length = 100;
  wish.response_length = 5000;
  wish.behaviour = Behaviour::reply_later;
  wish.service_time = 5ms;
  const auto cancelled = s.call(0, wish);
  s.run_for(1ms);
  ASSERT_TRUE(s.peer(0).cancel(cancelled));
  const auto other = s.rpc(0, 1, 100, 100);
  EXPECT_EQ(s.judge(), "");
  EXPECT_EQ(s.record(cancelled).status, CallStatus::cancelled);
  EXPECT_TRUE(s.ended_ok(other));
}

// Everything that was ever sent arrives once more, when every slot in use has moved on.
TEST(FieldExecution, field_20_packets_of_finished_calls_are_counted_and_ignored) {
  Scenario s;
  Recorder all([](const Parcel& p) { return (p.kinds & (kHello | kHelloAck)) == 0; });
  s.medium().observers.push_back(&all);
  s.rpc(0, 1, 100, 5000);
  s.one_way(1, 0, 5000);
  ASSERT_TRUE(s.run_calls(1s));
  const auto old = all.kept();
  for (int i = 0; i < 40; ++i) s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(1s));
  for (const auto& kept : old) s.inject(kept.bytes, kept.from, kept.to, false);
  s.run_for(10ms);
  const auto after = s.rpc(0, 1, 100, 100);
  EXPECT_EQ(s.judge(), "");
  EXPECT_TRUE(s.ended_ok(after));
  EXPECT_EQ(s.counters(1).requests_delivered, 42u);
  EXPECT_GE(s.counters(0).datagrams_duplicate + s.counters(1).datagrams_duplicate, old.size());
}

// Both ends were client and server, with many calls under way: an assertion about request numbers failed.
TEST(FieldExecution, field_24_sixty_calls_each_way_with_reordering_and_copies) {
  ScenarioSettings settings;
  settings.config.slots = 60;
  Scenario s(settings);
  FaultRule rule;
  rule.reorder = 0.3;
  rule.reorder_delay = 50us;
  rule.duplicate = 0.3;
  s.faults().add(rule);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 60; ++i) {
      s.rpc(0, 1, static_cast<std::uint64_t>(8 + i * 50), 100);
      s.rpc(1, 0, static_cast<std::uint64_t>(8 + i * 50), 3000);
    }
    ASSERT_TRUE(s.run_calls(5s)) << s.failures();
  }
  EXPECT_EQ(s.judge(), "");
  EXPECT_EQ(s.counters(0).calls_succeeded, 600u);
  EXPECT_EQ(s.counters(1).calls_succeeded, 600u);
}

// A second run on a fixed port met the traffic of the first: same ids, same address.
TEST(FieldExecution, field_28_a_new_process_ignores_what_was_meant_for_the_old_one) {
  Scenario s;
  Recorder to_server([&](const Parcel& p) { return p.to == s.host(1).address(); });
  s.medium().observers.push_back(&to_server);
  for (int i = 0; i < 20; ++i) s.rpc(0, 1, 3000, 100);
  s.one_way(0, 1, 300'000);
  ASSERT_TRUE(s.run_calls(1s));
  s.host(1).crash();
  s.host(1).boot();
  s.circumstances.disrupted = true;
  const auto old = to_server.kept();
  for (const auto& kept : old) s.inject(kept.bytes, kept.from, kept.to, false);
  s.run_for(100ms);
  EXPECT_EQ(s.counters(1).requests_delivered, 0u);
  s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(3s));
  for (const auto& kept : old) s.inject(kept.bytes, kept.from, kept.to, false);
  const auto call = s.rpc(0, 1, 100, 100);
  EXPECT_EQ(s.judge(), "");
  EXPECT_TRUE(s.ended_ok(call));
}

// The other way round: the client restarts at its address while the server still answers the old one.
TEST(FieldExecution, field_28_a_new_client_ignores_answers_to_the_old_one) {
  Scenario s;
  CallRecord wish;
  wish.server = 1;
  wish.request_length = 100;
  wish.response_length = 200'000;
  wish.behaviour = Behaviour::reply_later;
  wish.service_time = 2ms;
  for (int i = 0; i < 10; ++i) s.call(0, wish);
  s.run_for(2100us);
  s.host(0).crash();
  s.host(0).boot();
  s.circumstances.disrupted = true;
  for (int i = 0; i < 10; ++i) s.rpc(0, 1, 100, 100);
  ASSERT_TRUE(s.run_calls(3s));
  EXPECT_EQ(s.judge(), "");
}

}  // namespace
}  // namespace homa::sim
