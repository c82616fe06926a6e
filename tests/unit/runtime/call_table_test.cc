#include "runtime/call_table.h"

#include <gtest/gtest.h>

#include <memory>

namespace homa::runtime {
namespace {

using protocol::Event;

/// A table over an endpoint that knows one peer at a time and whose packets go nowhere.
class CallTableTest : public testing::Test {
 protected:
  void SetUp() override {
    net::Result<net::Wakeup> wakeup = net::Wakeup::create();
    ASSERT_TRUE(wakeup);
    link_ = new ShardLink(std::move(*wakeup));
    protocol::Config config;
    config.incarnation = 1;
    config.max_associations = 1;
    config.peer_timeout = 1s;
    endpoint_ = std::make_unique<protocol::Endpoint>(config, 1, link_->messages);
    table_ = std::make_unique<CallTable>(*link_, *endpoint_);
  }
  void TearDown() override {
    endpoint_->close(now_);
    dispatch();
    table_->end_all();
    table_.reset();
    endpoint_.reset();
    link_->drop_reference();
  }

  static Address peer(std::uint8_t last) { return {HostAddress::v4(192, 0, 2, last), 4000}; }

  /// As a blocked caller would.
  Operation& start(const Address& server) {
    Operation& operation = *link_->operations.take_local();
    operation.server = server;
    operation.done = Outcome();
    operation.send_copy(as_bytes("x"));
    table_->start(operation, now_);
    return operation;
  }
  void dispatch() {
    Event event;
    while (endpoint_->next_event(event, now_)) {
      if (event.kind == Event::Kind::call_finished) table_->on_call_finished(event);
      if (event.kind == Event::Kind::payload_released) table_->on_payload_released(event);
      if (event.kind == Event::Kind::writable) table_->on_writable(event, now_);
    }
  }
  /// Runs until `operation` has ended or nothing is left to wait for.
  void run_until_ended(const Operation& operation) {
    while (operation.ended.load() == 0) {
      while (endpoint_->next_transmit(now_, *train_)) sent_to_ = train_->to;
      endpoint_->advance(now_);
      dispatch();
      const Time next = endpoint_->next_deadline();
      if (operation.ended.load() != 0 || next == kNever) return;
      now_ = std::max(now_, next);
    }
  }
  static protocol::CallStatus status(const Operation& operation) { return std::get<Outcome>(operation.done).status; }

  ShardLink* link_ = nullptr;
  std::unique_ptr<protocol::Endpoint> endpoint_;
  std::unique_ptr<CallTable> table_;
  std::unique_ptr<protocol::Train> train_ = std::make_unique<protocol::Train>();
  Address sent_to_;
  Time now_{1s};
};

TEST_F(CallTableTest, CallersThatFoundTheTableOfPeersFullAreStartedWhenThereIsRoom) {
  Operation& first = start(peer(1));
  Operation& second = start(peer(2));
  Operation& third = start(peer(3));
  EXPECT_TRUE(table_->blocked());
  EXPECT_EQ(endpoint_->usage().calls, 1u);
  run_until_ended(first);
  EXPECT_EQ(status(first), protocol::CallStatus::peer_unreachable);
  EXPECT_EQ(endpoint_->usage().calls, 1u) << "the next one, and only that";
  run_until_ended(second);
  EXPECT_EQ(status(second), protocol::CallStatus::peer_unreachable);
  EXPECT_EQ(sent_to_, peer(2));
  run_until_ended(third);
  EXPECT_EQ(status(third), protocol::CallStatus::peer_unreachable);
  EXPECT_EQ(sent_to_, peer(3));
  for (Operation* operation : {&first, &second, &third}) link_->operations.give_local(operation);
}

}  // namespace
}  // namespace homa::runtime
