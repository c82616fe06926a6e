// Back-pressure: what finds no room waits, and is told when there is some.
#include <gtest/gtest.h>

#include <set>

#include "pair.h"

namespace homa::protocol {
namespace {

using Kind = Event::Kind;
using Bytes = std::vector<std::byte>;

TEST(BackPressure, SlotsThenWaitingThenWouldBlockThenWritable) {
  Config server;
  server.slots = 2;
  Config client;
  client.max_waiting_calls = 3;
  Pair pair(client, server);
  pair.hold();
  const Bytes request = pattern(100);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([&] { return !pair.running.empty(); }, 1s);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(pair.call(view(request)).error, StartError::none) << i;
  EXPECT_EQ(pair.call(view(request)).error, StartError::would_block);
  pair.run([&] { return pair.running.size() == 2; }, 1s);
  EXPECT_EQ(pair.running.size(), 2U);
  EXPECT_EQ(Pair::count(pair.client, Kind::writable), 0);
  std::size_t answered = 0;
  pair.run(
      [&] {
        while (answered < pair.running.size()) pair.reply(pair.running[answered++], view(request));
        return Pair::count(pair.client, Kind::call_finished) == 5;
      },
      1s);
  EXPECT_EQ(pair.client.endpoint->counters().calls_succeeded, 5U);
  EXPECT_GE(Pair::count(pair.client, Kind::writable), 1);
  EXPECT_EQ(pair.call(view(request)).error, StartError::none);
}

TEST(BackPressure, AMessageWithoutMemoryIsHeldAndGoesOnWhenSomeIsReleased) {
  Config server;
  server.receive_memory = 150'000;
  Pair pair({}, server);
  std::vector<Event> taken;
  pair.on_server_event = [&](const Event& event) { taken.push_back(event); };
  const Bytes request = pattern(100'000);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([] { return false; }, 3s);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_GT(pair.server.endpoint->counters().holds_sent, 0U);
  EXPECT_LT(pair.client.endpoint->counters().data_resent, 200U) << "held means silent";
  EXPECT_LE(pair.server.endpoint->usage().receive_memory, 150'000U);
  pair.server.endpoint->release_message(taken[0].message, pair.now);
  pair.run([&] { return taken.size() == 2; }, 1s);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(std::memcmp(taken[1].message.data, request.data(), request.size()), 0);
  pair.server.endpoint->release_message(taken[1].message, pair.now);
  EXPECT_EQ(pair.server.buffers.live, 0);
}

TEST(BackPressure, AHeldMessageGoesOnThoughNothingWasReleasedHere) {
  // Memory that others share comes free without our knowing.
  Pair pair;
  pair.echo();
  open(pair);
  pair.server.buffers.refuse = true;
  const Bytes request = pattern(10'000);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([] { return false; }, 2s);
  EXPECT_EQ(Pair::count(pair.server, Kind::request), 0);
  pair.server.buffers.refuse = false;
  pair.run([&] { return Pair::count(pair.client, Kind::call_finished) > 0; }, 1s);
  EXPECT_EQ(pair.status(), CallStatus::ok);
}

TEST(BackPressure, AResponseWithoutMemoryIsHeldToo) {
  Pair pair;
  pair.echo();
  open(pair);
  pair.client.buffers.refuse = true;
  const Bytes request = pattern(10'000);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([] { return false; }, 2s);
  EXPECT_EQ(Pair::count(pair.client, Kind::call_finished), 0);
  pair.client.buffers.refuse = false;
  pair.run([&] { return Pair::count(pair.client, Kind::call_finished) > 0; }, 1s);
  EXPECT_EQ(pair.status(), CallStatus::ok);
  pair.drain();
  expect_idle(pair);
}

TEST(BackPressure, ACallThatFindsNoPlaceAtTheServerWaitsForOne) {
  // The server says nothing to what it cannot take. That is not the silence of the dead.
  Config server;
  server.max_requests = 1;
  Pair pair({}, server);
  pair.hold();
  const Bytes request = pattern(100);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([&] { return pair.running.size() == 1; }, 1s);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([] { return false; }, 8s);
  EXPECT_EQ(Pair::count(pair.client, Kind::call_finished), 0);
  pair.reply(pair.running[0], view(request));
  pair.run([&] { return pair.running.size() == 2; }, 3s);
  ASSERT_EQ(pair.running.size(), 2U);
  pair.reply(pair.running[1], view(request));
  pair.run([&] { return Pair::count(pair.client, Kind::call_finished) == 2; }, 3s);
  EXPECT_EQ(pair.client.endpoint->counters().calls_succeeded, 2U);
}

TEST(BackPressure, EveryPeerThatMetWouldBlockIsToldWritable) {
  Config client;
  client.send_memory = 10'000;
  Pair pair(client, {});
  open(pair);
  const Bytes request = pattern(9000);
  const StartResult big = pair.call(view(request));
  ASSERT_EQ(big.error, StartError::none);
  const ByteView piece = view(request);
  std::set<std::uint16_t> blocked;
  for (std::uint16_t port = 1; port <= 3; ++port) {
    const Address peer{HostAddress::v4(10, 0, 0, 7), port};
    const Payload payload{&piece, 1, piece.size, 100};
    ASSERT_EQ(pair.client.endpoint->start(peer, payload, {}, pair.now).error, StartError::would_block);
    blocked.insert(port);
  }
  pair.client.endpoint->cancel(big.call, pair.now);
  pair.run([] { return false; }, 1s);
  for (const Event& event : pair.client.events) {
    if (event.kind == Kind::writable) blocked.erase(event.peer.port);
  }
  EXPECT_TRUE(blocked.empty()) << blocked.size() << " peers are not told";
}

// One association in the table, and a call under way in it: another peer finds no room.
class FullTable : public testing::Test {
 protected:
  static Config one_peer() {
    Config config;
    config.max_associations = 1;
    return config;
  }
  void SetUp() override {
    pair_.hold();
    ASSERT_EQ(pair_.call(view(request_)).error, StartError::none);
    pair_.run([this] { return !pair_.running.empty(); }, 1s);
    ASSERT_EQ(start_elsewhere(), StartError::table_full);
    ASSERT_EQ(told(), 0);
  }
  StartError start_elsewhere() {
    static const ByteView piece = view(request_);
    const Address elsewhere{HostAddress::v4(10, 0, 0, 7), 7};
    return pair_.client.endpoint->start(elsewhere, {&piece, 1, piece.size, 100}, {}, pair_.now).error;
  }
  /// Events that say so to whomever.
  int told() const {
    int count = 0;
    for (const Event& event : pair_.client.events) count += event.kind == Kind::writable && event.peer == Address{};
    return count;
  }

  const Bytes request_ = pattern(100);
  Pair pair_{one_peer(), {}};
};

TEST_F(FullTable, IsWritableOnceAnAssociationIsIdleAndCanBeForgotten) {
  pair_.reply(pair_.running[0], {});
  EXPECT_TRUE(pair_.run([this] { return told() > 0; }, 1s));
  EXPECT_EQ(start_elsewhere(), StartError::none);
  EXPECT_EQ(pair_.client.endpoint->usage().associations, 1U);
  EXPECT_EQ(told(), 1) << "told once for what was asked once";
}

TEST_F(FullTable, IsWritableOnceAnAssociationIsLost) {
  pair_.server.endpoint->close(pair_.now);
  EXPECT_TRUE(pair_.run([this] { return told() > 0; }, 1s));
  EXPECT_EQ(pair_.status(), CallStatus::peer_closed);
  EXPECT_EQ(start_elsewhere(), StartError::none);
}

TEST_F(FullTable, NobodyIsToldWhoDidNotAsk) {
  pair_.reply(pair_.running[0], {});
  pair_.run([this] { return told() > 0; }, 1s);
  ASSERT_EQ(pair_.call(view(request_)).error, StartError::none);
  pair_.run([this] { return pair_.running.size() == 2; }, 1s);
  pair_.reply(pair_.running[1], {});
  pair_.drain();
  EXPECT_EQ(told(), 1);
}

}  // namespace
}  // namespace homa::protocol
