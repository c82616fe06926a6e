// Calls between two endpoints: how they end, whatever happens to them.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/rng.h"
#include "pair.h"
#include "wire/datagram.h"

namespace homa::protocol {
namespace {

using Kind = Event::Kind;
using Bytes = std::vector<std::byte>;

// At most once

TEST(AtMostOnce, ADelayedCopyOfARequestNeverRuns) {
  const Bytes request = pattern(100);
  for (const Duration delay : {Duration(1ms), Duration(2s), Duration(10s)}) {
    Pair pair;
    pair.echo();
    open(pair);
    std::vector<Bytes> copies;
    pair.filter = [&](bool to_server, ByteView bytes) {
      if (to_server) copies.emplace_back(bytes.data, bytes.data + bytes.size);
      return true;
    };
    ASSERT_EQ(pair.call(view(request)).error, StartError::none);
    pair.drain();
    pair.filter = nullptr;
    ASSERT_EQ(pair.status(), CallStatus::ok);
    pair.now += delay;
    for (const Bytes& copy : copies) pair.inject(true, pair.client.address, view(copy));
    pair.drain();
    EXPECT_EQ(Pair::count(pair.server, Kind::request), 1);
    expect_idle(pair);
  }
}

TEST(AtMostOnce, ALostFirstCopyThatComesAfterTheSecondRanOnceOnly) {
  Pair pair;
  pair.echo();
  open(pair);
  const Bytes request = pattern(100);
  Bytes first;
  pair.filter = [&](bool to_server, ByteView bytes) {
    if (!to_server || !first.empty()) return true;
    first.assign(bytes.data, bytes.data + bytes.size);
    return false;
  };
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.drain();
  ASSERT_EQ(pair.status(), CallStatus::ok);
  pair.inject(true, pair.client.address, view(first));
  pair.drain();
  EXPECT_EQ(Pair::count(pair.server, Kind::request), 1);
  EXPECT_EQ(pair.client.endpoint->counters().calls_succeeded, 2U);
}

TEST(AtMostOnce, AServerCutOffWhileItRanKeepsWhatItRanForT) {
  // The answer is lost for longer than peer_timeout, in one direction. Forgetting the association then would send the
  // call again, since the server's life is the same.
  Pair pair;
  pair.on_server_event = [&](const Event& event) {
    if (event.kind != Kind::request) return;
    static const Bytes response = pattern(20'000);
    pair.reply(event.request, view(response));
    pair.server.endpoint->release_message(event.message, pair.now);
  };
  open(pair);
  const Bytes request = pattern(20'000);
  Time cut = kNever;
  pair.filter = [&](bool to_server, ByteView) {
    if (cut == kNever && !to_server && Pair::count(pair.server, Kind::request) == 1) cut = pair.now;
    return cut == kNever || pair.now > cut + 6s;
  };
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([&] { return false; }, 40s);
  EXPECT_EQ(Pair::count(pair.server, Kind::request), 1);
}

TEST(AtMostOnce, AServerThatKeepsSilentAssociationsShorterDecides) {
  // The server forgets after 6 s, the client would send again what is younger than 30 s.
  Config server;
  server.idle_timeout = 6s;
  Pair pair({}, server);
  pair.on_server_event = [&](const Event& event) {
    if (event.kind != Kind::request) return;
    static const Bytes response = pattern(20'000);
    pair.reply(event.request, view(response));
    pair.server.endpoint->release_message(event.message, pair.now);
  };
  open(pair);
  const Bytes request = pattern(20'000);
  Time cut = kNever;
  bool heard = false;
  pair.filter = [&](bool to_server, ByteView) {
    if (cut == kNever && !to_server && Pair::count(pair.server, Kind::request) == 1) cut = pair.now;
    if (cut == kNever || pair.now > cut + 9s) return true;
    // One frame passes, so that the client does not give up. Nothing reaches the server.
    const bool passes = !to_server && !heard && pair.now > cut + 4s;
    heard = heard || passes;
    return passes;
  };
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([] { return false; }, 40s);
  EXPECT_EQ(Pair::count(pair.server, Kind::request), 1);
  EXPECT_EQ(pair.status(), CallStatus::outcome_unknown);
}

TEST(AtMostOnce, ARestartedServerLeavesTheOutcomeUnknown) {
  Pair pair;
  open(pair);  // the first request stays unanswered; no handler is set
  const Bytes request = pattern(100);
  pair.client.events.clear();
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([&] { return Pair::count(pair.server, Kind::request) > 0; }, 100ms);
  pair.server.events.clear();
  for (const Event& event : pair.server.events) pair.server.endpoint->release_message(event.message, pair.now);
  pair.restart_server();
  pair.run([&] { return Pair::count(pair.client, Kind::call_finished) == 2; }, 20s);
  EXPECT_EQ(pair.status(), CallStatus::outcome_unknown);
  EXPECT_EQ(Pair::count(pair.server, Kind::request), 0) << "the new life never runs the old request";
}

TEST(AtMostOnce, AnIdempotentCallGoesAgainAfterARestart) {
  Pair pair;
  CallOptions options;
  options.idempotent = true;
  const Bytes request = pattern(3000);
  ASSERT_EQ(pair.call(view(request), options).error, StartError::none);
  pair.run([&] { return Pair::count(pair.server, Kind::request) > 0; }, 100ms);
  for (const Event& event : pair.server.events) pair.server.endpoint->release_message(event.message, pair.now);
  pair.restart_server();
  pair.echo();
  pair.run([&] { return Pair::count(pair.client, Kind::call_finished) == 1; }, 20s);
  EXPECT_EQ(pair.status(), CallStatus::ok);
  EXPECT_EQ(Pair::count(pair.server, Kind::request), 2);
  pair.drain();
  expect_idle(pair);
}

TEST(AtMostOnce, AForgottenIdleAssociationIsRenewedUnseen) {
  Config small;
  small.max_associations = 1;
  Pair pair({}, small);
  pair.echo();
  open(pair);
  // Another client takes the only place.
  wire::FrameHeader header;
  header.packet_number = 1;
  wire::HelloPacket hello;
  hello.source = {77};
  hello.incarnation = 5;
  hello.version_min = hello.version_max = wire::kVersion;
  Bytes frame(wire::kFrameHeaderSize + wire::kHelloSize);
  wire::encode_packet(hello, frame.data() + wire::kFrameHeaderSize);
  wire::encode_frame_header(header, wire::kHelloSize, frame.data());
  pair.inject(true, {HostAddress::v4(10, 0, 0, 9), 9}, view(frame));
  EXPECT_EQ(pair.server.endpoint->counters().associations_evicted, 1U);
  const Bytes request = pattern(100);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([&] { return Pair::count(pair.client, Kind::call_finished) == 1; }, 10s);
  EXPECT_EQ(pair.status(), CallStatus::ok);
  EXPECT_EQ(pair.client.endpoint->counters().calls_restarted, 1U);
  EXPECT_EQ(Pair::count(pair.server, Kind::request), 1);
}

// Ends

TEST(Ending, CancelInEveryStateEndsOnceAndReturnsAll) {
  const Bytes request = pattern(200'000);
  for (int step = 0; step < 40; ++step) {
    SCOPED_TRACE(step);
    Pair pair;
    pair.echo();
    int datagrams = 0;
    pair.filter = [&](bool, ByteView) {
      ++datagrams;
      return true;
    };
    const StartResult result = pair.call(view(request));
    ASSERT_EQ(result.error, StartError::none);
    pair.run([&] { return datagrams >= step * 10; }, 10s);
    const bool running = pair.client.endpoint->cancel(result.call, pair.now);
    EXPECT_FALSE(pair.client.endpoint->cancel(result.call, pair.now)) << "it has ended";
    pair.drain();
    EXPECT_EQ(Pair::count(pair.client, Kind::call_finished), 1);
    EXPECT_EQ(Pair::count(pair.client, Kind::payload_released), 1);
    EXPECT_EQ(pair.status(), running ? CallStatus::cancelled : CallStatus::ok);
    expect_idle(pair);
  }
}

TEST(Ending, ACancelledCallHoldsItsSlotUntilTheHandlerHasEnded) {
  Config one_slot;
  one_slot.slots = 1;
  Pair pair({}, one_slot);
  pair.hold();
  const Bytes request = pattern(100);
  const StartResult first = pair.call(view(request));
  pair.run([&] { return pair.running.size() == 1; }, 1s);
  EXPECT_TRUE(pair.client.endpoint->cancel(first.call, pair.now));
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([] { return false; }, 1s);
  EXPECT_EQ(pair.running.size(), 1U) << "the slot is taken";
  EXPECT_EQ(Pair::count(pair.server, Kind::request_aborted), 1);
  EXPECT_FALSE(pair.reply(pair.running[0], view(request))) << "nobody wants it";
  pair.run([&] { return pair.running.size() == 2; }, 1s);
  ASSERT_EQ(pair.running.size(), 2U);
  EXPECT_TRUE(pair.reply(pair.running[1], view(request)));
  pair.run([&] { return Pair::count(pair.client, Kind::call_finished) == 2; }, 1s);
  EXPECT_EQ(pair.client.endpoint->counters().calls_succeeded, 1U);
}

TEST(Ending, TheDeadlineEndsACallAndTellsTheHandler) {
  Pair pair;
  Time told = kNever;
  pair.on_server_event = [&](const Event& event) {
    if (event.kind == Kind::request) told = event.deadline;
    pair.server.endpoint->release_message(event.message, pair.now);
  };
  CallOptions options;
  options.deadline = pair.now + 20ms;
  const Bytes request = pattern(100);
  ASSERT_EQ(pair.call(view(request), options).error, StartError::none);
  pair.run([&] { return Pair::count(pair.client, Kind::call_finished) > 0; }, 1s);
  EXPECT_EQ(pair.status(), CallStatus::deadline_exceeded);
  EXPECT_EQ(pair.now, options.deadline);
  EXPECT_NEAR(static_cast<double>((told - options.deadline).count()), 0, 100e3);
  pair.run([&] { return Pair::count(pair.server, Kind::request_aborted) > 0; }, 1s);
  options.deadline = pair.now;
  EXPECT_EQ(pair.call(view(request), options).error, StartError::deadline_passed);
}

TEST(Ending, RefusalsHaveTheirStatus) {
  for (const CallStatus reason : {CallStatus::no_handler, CallStatus::refused}) {
    Pair pair;
    pair.on_server_event = [&](const Event& event) {
      if (event.kind == Kind::request) {
        EXPECT_TRUE(pair.server.endpoint->refuse(event.request, reason, pair.now));
      }
      pair.server.endpoint->release_message(event.message, pair.now);
    };
    const Bytes request = pattern(100);
    ASSERT_EQ(pair.call(view(request)).error, StartError::none);
    pair.drain();
    EXPECT_EQ(pair.status(), reason);
    expect_idle(pair);
  }
}

TEST(Ending, AResponseTooLongForTheClientEndsTheCall) {
  Config small;
  small.max_message_length = 1000;
  Pair pair(small, {});
  bool replied = true;
  const Bytes response = pattern(1001);
  pair.on_server_event = [&](const Event& event) {
    if (event.kind == Kind::request) replied = pair.reply(event.request, view(response));
    pair.server.endpoint->release_message(event.message, pair.now);
  };
  const Bytes request = pattern(100);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.drain();
  EXPECT_FALSE(replied);
  EXPECT_EQ(pair.status(), CallStatus::too_long);
  expect_idle(pair);
}

TEST(Ending, field_12_LengthsAroundTheLimit) {
  Config small;
  small.max_message_length = 50'000;
  Pair pair({}, small);
  pair.echo();
  const Bytes bytes = pattern(50'001);
  // The limit of the server is learnt with the first call; until then a call that is too long ends with that status.
  ASSERT_EQ(pair.call(view(bytes)).error, StartError::none);
  pair.drain();
  EXPECT_EQ(pair.status(), CallStatus::too_long);
  pair.client.events.clear();
  EXPECT_EQ(pair.call(view(bytes)).error, StartError::too_long) << "now it is known";
  for (const std::size_t length : {49'999U, 50'000U}) {
    pair.client.events.clear();
    ASSERT_EQ(pair.call({bytes.data(), length}).error, StartError::none);
    pair.drain();
    EXPECT_EQ(pair.status(), CallStatus::ok);
  }
  for (const std::uint64_t length : {(1ULL << 30) + 1, 0xffffffffULL, 0x100000000ULL}) {
    EXPECT_EQ(pair.call({bytes.data(), length}).error, StartError::too_long) << length;
  }
  EXPECT_EQ(pair.server.endpoint->max_message_length(), 50'000U);
  expect_idle(pair);
}

TEST(Ending, field_14_EmptyMessagesAreMessages) {
  const Bytes some = pattern(2000);
  for (int victim = -1; victim < 8; ++victim) {
    for (const bool empty_request : {true, false}) {
      Pair pair;
      int count = 0;
      pair.filter = [&](bool, ByteView) { return count++ != victim; };
      pair.on_server_event = [&](const Event& event) {
        if (event.kind != Kind::request) return;
        EXPECT_EQ(event.message.length, empty_request ? 0U : some.size());
        pair.reply(event.request, empty_request ? view(some) : ByteView{});
        pair.server.endpoint->release_message(event.message, pair.now);
      };
      pair.on_client_event = [&](const Event& event) {
        if (event.kind == Kind::call_finished) {
          EXPECT_EQ(event.message.length, empty_request ? some.size() : 0U);
        }
        pair.client.endpoint->release_message(event.message, pair.now);
      };
      ASSERT_EQ(pair.call(empty_request ? ByteView{} : view(some)).error, StartError::none);
      pair.run([&] { return Pair::count(pair.client, Kind::call_finished) > 0; }, 1s);
      EXPECT_EQ(pair.status(), CallStatus::ok);
      pair.drain();
      expect_idle(pair);
    }
  }
}

TEST(Ending, CloseTellsThePeer) {
  Pair pair;
  open(pair);
  const Bytes request = pattern(100);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  pair.run([&] { return Pair::count(pair.server, Kind::request) > 0; }, 1s);
  pair.server.endpoint->close(pair.now);
  pair.drain();
  EXPECT_EQ(pair.status(), CallStatus::peer_closed);
  EXPECT_EQ(pair.server.endpoint->start(pair.client.address, {}, {}, pair.now).error, StartError::shut_down);
}

TEST(Ending, ASilentPeerEndsCallsWithinThePeerTimeout) {
  for (const bool known : {false, true}) {
    Pair pair;
    pair.echo();
    if (known) open(pair);
    pair.filter = [](bool, ByteView) { return false; };
    const Bytes request = pattern(100'000);
    const Time begin = pair.now;
    ASSERT_EQ(pair.call(view(request)).error, StartError::none);
    pair.run([&] { return Pair::count(pair.client, Kind::call_finished) > 0; }, 60s);
    EXPECT_EQ(pair.status(), known ? CallStatus::peer_timeout : CallStatus::peer_unreachable);
    EXPECT_LE(pair.now - begin, 6s);
    EXPECT_EQ(Pair::count(pair.client, Kind::payload_released), 1);
    pair.drain();
    EXPECT_EQ(pair.client.endpoint->next_deadline(), kNever);
  }
}

TEST(Ending, NetworkErrorsAreHintsOnly) {
  Pair pair;
  pair.echo();
  const Bytes request = pattern(100);
  // While nothing is owed, and while the peer answers, they change nothing.
  open(pair);
  for (int i = 0; i < 10; ++i) {
    pair.client.endpoint->network_error(pair.server.address, TransmitFailure::unreachable, pair.now);
  }
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  for (int i = 0; i < 10; ++i) {
    pair.client.endpoint->network_error(pair.server.address, TransmitFailure::unreachable, pair.now);
  }
  pair.drain();
  EXPECT_EQ(pair.status(), CallStatus::ok);
  // Never heard of and reported unreachable: no need to wait for the timeout.
  Pair nobody;
  nobody.filter = [&](bool, ByteView) {
    nobody.client.endpoint->network_error(nobody.server.address, TransmitFailure::unreachable, nobody.now);
    return false;
  };
  const Time begin = nobody.now;
  ASSERT_EQ(nobody.call(view(request)).error, StartError::none);
  nobody.drain();
  nobody.drain();  // the event of the last hint
  EXPECT_EQ(nobody.status(), CallStatus::peer_unreachable);
  EXPECT_LT(nobody.now - begin, 100ms);
}

TEST(Ending, AForgedNoAssociationIsRejected) {
  Pair pair;
  open(pair);
  const Bytes request = pattern(100);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  wire::FrameHeader sent;
  pair.filter = [&](bool to_server, ByteView bytes) {
    if (to_server) {
      EXPECT_EQ(wire::decode_frame_header(bytes, sent), wire::DecodeError::none);
    }
    return !to_server;
  };
  pair.run([] { return false; }, 100us);
  const auto forge = [&](const Address& from, std::uint64_t id, std::uint32_t number) {
    wire::FrameHeader header = sent;
    header.reversed = true;
    header.destination = {id};
    header.packet_number = number;
    Bytes frame(wire::kFrameHeaderSize + wire::kNoAssociationSize);
    wire::encode_packet(wire::NoAssociationPacket{number, 99}, frame.data() + wire::kFrameHeaderSize);
    wire::encode_frame_header(header, wire::kNoAssociationSize, frame.data());
    pair.inject(false, from, view(frame));
  };
  const Address stranger{HostAddress::v4(10, 0, 0, 66), 1002};
  forge(stranger, sent.destination.value, sent.packet_number);                 // wrong address
  forge(pair.server.address, sent.destination.value ^ 1, sent.packet_number);  // wrong id
  forge(pair.server.address, sent.destination.value, sent.packet_number + 1);  // a number never sent
  EXPECT_EQ(pair.client.endpoint->counters().no_association_rejected, 3U);
  EXPECT_EQ(pair.client.endpoint->counters().associations_lost, 0U);
}

// Acknowledgments

TEST(Acknowledging, OneAckMayEndTheLastThingAndNameMoreBehindIt) {
  // The response is frame n of its lane, a bare acknowledgment n + 1. When both are acknowledged at once, the
  // response's end leaves the association idle, and what was sent is forgotten in the middle of the range.
  Pair pair;
  open(pair);
  pair.hold();
  Rng rng(1);
  const Bytes request = pattern(100);
  for (int i = 0; i < 300; ++i) {
    pair.filter = [&](bool, ByteView) { return rng.chance(0.7); };
    const std::size_t calls = 1 + rng.below(3);
    for (std::size_t k = 0; k < calls; ++k) ASSERT_EQ(pair.call(view(request)).error, StartError::none);
    pair.run([] { return false; }, Duration(static_cast<Duration::rep>(rng.below(1'500'000'000))));
    for (const RequestId id : pair.running) pair.reply(id, view(request));
    pair.running.clear();
    pair.filter = [&](bool, ByteView) { return rng.chance(0.9); };
    pair.run([] { return false; }, Duration(static_cast<Duration::rep>(rng.below(20'000'000))));
  }
  pair.filter = nullptr;
  pair.run(
      [&] {
        for (const RequestId id : pair.running) pair.reply(id, view(request));
        pair.running.clear();
        return pair.client.endpoint->usage().calls == 1;  // but the one of open(), which nobody answers
      },
      20s);
  EXPECT_LE(pair.client.endpoint->usage().calls, 1U);
}

// 0-RTT

TEST(ZeroRtt, AnIdempotentCallRidesWithTheHello) {
  Pair pair;
  pair.echo();
  CallOptions options;
  options.idempotent = true;
  const Bytes request = pattern(1000);
  ASSERT_EQ(pair.call(view(request), options).error, StartError::none);
  const Time begin = pair.now;
  pair.run([&] { return Pair::count(pair.server, Kind::request) > 0; }, 1s);
  EXPECT_EQ(pair.now - begin, Pair::kDelay) << "half a round trip, no handshake before";
  pair.drain();
  EXPECT_EQ(pair.status(), CallStatus::ok);
  expect_idle(pair);
}

TEST(ZeroRtt, ACallThatMustNotRunTwiceWaitsForTheServersId) {
  Pair pair;
  pair.echo();
  const Bytes request = pattern(1000);
  ASSERT_EQ(pair.call(view(request)).error, StartError::none);
  const Time begin = pair.now;
  pair.run([&] { return Pair::count(pair.server, Kind::request) > 0; }, 1s);
  EXPECT_EQ(pair.now - begin, 3 * Pair::kDelay);
}

TEST(ZeroRtt, RidesThoughTheServerTakesFewerBytesUnscheduled) {
  Config server;
  server.unscheduled_bytes = 0;
  Pair pair({}, server);
  pair.echo();
  CallOptions options;
  options.idempotent = true;
  const Bytes request = pattern(1000);
  ASSERT_EQ(pair.call(view(request), options).error, StartError::none);
  pair.run([&] { return Pair::count(pair.client, Kind::call_finished) > 0; }, 1s);
  EXPECT_EQ(pair.status(), CallStatus::ok);
}

}  // namespace
}  // namespace homa::protocol
