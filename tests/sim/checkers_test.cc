// Who checks the checkers: each one fires on an invented history that breaks its rule, and is silent on one that keeps
// it.
#include "testing/checkers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "testing/content.h"
#include "testing/ledger.h"
#include "testing/memory.h"
#include "wire/datagram.h"

namespace homa::sim {
namespace {

using protocol::CallStatus;
using protocol::Event;

std::string only(const Verdict& verdict) {
  if (verdict.violations().empty()) return "";
  return verdict.violations().front().checker;
}

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() : verdict(loop), ledger(verdict, 77) {}
  Ledger::Index begin(std::uint64_t request = 100, std::uint64_t response = 50, bool one_way = false) {
    CallRecord record;
    record.server = 1;
    record.request_length = request;
    record.response_length = response;
    record.one_way = one_way;
    return ledger.add(record);
  }
  void deliver(Ledger::Index index, int server = 1) {
    const CallRecord& record = ledger.records()[index];
    memory.resize(record.request_length + 1);
    fill_content(ledger.request_seed(index), memory.data(), record.request_length);
    const std::uint64_t key = ledger.key(index);
    if (record.request_length >= 8) std::memcpy(memory.data(), &key, 8);
    if (spoil < record.request_length) memory[spoil] ^= std::byte{1};
    Event event;
    event.kind = record.one_way ? Event::Kind::one_way : Event::Kind::request;
    event.idempotent = record.idempotent;
    event.message = {memory.data(), record.request_length};
    Ledger::Index found = 0;
    ledger.delivered(server, event, Time(1us), &found);
  }
  void finish(Ledger::Index index, CallStatus status = CallStatus::ok) {
    const CallRecord& record = ledger.records()[index];
    const std::uint64_t length = record.one_way ? 0 : record.response_length;
    memory.resize(length + 1);
    fill_content(ledger.response_seed(index), memory.data(), length);
    if (spoil < length) memory[spoil] ^= std::byte{1};
    Event event;
    event.kind = Event::Kind::call_finished;
    event.status = status;
    if (status == CallStatus::ok && !record.one_way) event.message = {memory.data(), length};
    ledger.finished(index, event, Time(2us));
  }
  void judge() { ledger.judge(circumstances, Time(10us)); }

  EventLoop loop;
  Verdict verdict;
  Ledger ledger;
  Circumstances circumstances;
  std::vector<std::byte> memory;
  std::uint64_t spoil = ~std::uint64_t{0};
};

TEST_F(LedgerTest, AGoodHistoryIsGood) {
  const auto rpc = begin();
  deliver(rpc);
  ledger.replied(rpc, Time(1us));
  finish(rpc);
  const auto message = begin(20'000, 0, true);
  deliver(message);
  finish(message);
  const auto tiny = begin(0, 0);
  deliver(tiny);
  finish(tiny);
  judge();
  EXPECT_EQ(only(verdict), "");
  EXPECT_EQ(ledger.open_calls(), 0u);
}

TEST_F(LedgerTest, ACallThatNeverEnds) {
  begin();
  judge();
  EXPECT_EQ(only(verdict), "liveness");
}

TEST_F(LedgerTest, ACallThatEndsTwice) {
  const auto rpc = begin();
  deliver(rpc);
  finish(rpc);
  finish(rpc);
  EXPECT_EQ(only(verdict), "ends_once");
}

TEST_F(LedgerTest, ARequestThatRunsTwice) {
  const auto rpc = begin();
  deliver(rpc);
  deliver(rpc);
  EXPECT_EQ(only(verdict), "at_most_once");
}

TEST_F(LedgerTest, AnIdempotentOneMayRunTwice) {
  CallRecord record;
  record.server = 1;
  record.request_length = 100;
  record.idempotent = true;
  const auto rpc = ledger.add(record);
  deliver(rpc);
  deliver(rpc);
  EXPECT_EQ(only(verdict), "");
}

TEST_F(LedgerTest, AnAnonymousOneThatRunsTwice) {
  const auto rpc = begin(3, 3);
  deliver(rpc);
  deliver(rpc);
  finish(rpc);
  judge();
  EXPECT_EQ(only(verdict), "at_most_once");
}

TEST_F(LedgerTest, WrongBytesInARequest) {
  const auto rpc = begin();
  spoil = 99;
  deliver(rpc);
  EXPECT_EQ(only(verdict), "request_bytes");
}

TEST_F(LedgerTest, WrongBytesInAResponse) {
  const auto rpc = begin();
  deliver(rpc);
  spoil = 0;
  finish(rpc);
  EXPECT_EQ(only(verdict), "response_bytes");
}

TEST_F(LedgerTest, ARequestAtTheWrongServer) {
  deliver(begin(), 2);
  EXPECT_EQ(only(verdict), "request_bytes");
}

TEST_F(LedgerTest, OkWithoutDelivery) {
  const auto message = begin(100, 0, true);
  finish(message);
  judge();
  EXPECT_EQ(only(verdict), "honest_status");
}

TEST_F(LedgerTest, AnonymousOkWithoutDelivery) {
  finish(begin(5, 0, true));
  judge();
  EXPECT_EQ(only(verdict), "honest_status");
}

TEST_F(LedgerTest, UnreachableThoughExecuted) {
  circumstances.disrupted = true;
  const auto rpc = begin();
  deliver(rpc);
  finish(rpc, CallStatus::peer_unreachable);
  judge();
  EXPECT_EQ(only(verdict), "honest_status");
}

TEST_F(LedgerTest, RefusedAtStartYetExecuted) {
  const auto rpc = begin();
  ledger.withdraw(rpc);
  deliver(rpc);
  judge();
  EXPECT_EQ(only(verdict), "honest_status");
}

TEST_F(LedgerTest, TimeoutInAGoodNetwork) {
  finish(begin(), CallStatus::peer_timeout);
  judge();
  EXPECT_EQ(only(verdict), "honest_status");
}

TEST_F(LedgerTest, TimeoutInABrokenNetworkIsHonest) {
  circumstances.disrupted = true;
  finish(begin(), CallStatus::peer_timeout);
  judge();
  EXPECT_EQ(only(verdict), "");
}

TEST_F(LedgerTest, DeadlineToldTooLate) {
  CallRecord record;
  record.request_length = 100;
  record.deadline = Time(1us);
  circumstances.timer_slack = Duration(0);
  finish(ledger.add(record), CallStatus::deadline_exceeded);
  judge();
  EXPECT_EQ(only(verdict), "deadline");
}

TEST_F(LedgerTest, DeadlineToldTooEarly) {
  CallRecord record;
  record.request_length = 100;
  record.deadline = Time(5us);
  finish(ledger.add(record), CallStatus::deadline_exceeded);
  judge();
  EXPECT_EQ(only(verdict), "honest_status");
}

TEST_F(LedgerTest, CancelledWithoutCancel) {
  finish(begin(), CallStatus::cancelled);
  judge();
  EXPECT_EQ(only(verdict), "honest_status");
}

TEST_F(LedgerTest, RefusedThoughNobodyRefused) {
  const auto rpc = begin();
  deliver(rpc);
  finish(rpc, CallStatus::refused);
  judge();
  EXPECT_EQ(only(verdict), "honest_status");
}

TEST_F(LedgerTest, TheCallsOfADeadProcessNeedNotEnd) {
  begin();
  ledger.abandon(0);
  judge();
  EXPECT_EQ(only(verdict), "");
}

TEST_F(LedgerTest, ACallOutlivesTheCloseOfItsEndpoint) {
  const auto rpc = begin();
  ledger.closed(0, Time(1us));
  finish(rpc, CallStatus::shut_down);
  judge();
  EXPECT_EQ(only(verdict), "close");
}

TEST_F(LedgerTest, ACloseEndsCallsWithShutDown) {
  const auto rpc = begin();
  deliver(rpc);
  ledger.closed(0, Time(2us));
  finish(rpc, CallStatus::shut_down);
  judge();
  EXPECT_EQ(only(verdict), "");
}

TEST_F(LedgerTest, ACloseEndsCallsOtherwise) {
  const auto rpc = begin();
  ledger.closed(0, Time(2us));
  ledger.closed(1, Time(2us));
  finish(rpc, CallStatus::peer_closed);
  judge();
  EXPECT_EQ(only(verdict), "honest_status");
}

TEST_F(LedgerTest, ShutDownThoughNobodyClosed) {
  finish(begin(), CallStatus::shut_down);
  judge();
  EXPECT_EQ(only(verdict), "honest_status");
}

TEST_F(LedgerTest, PeerClosedThoughItDidNot) {
  ledger.closed(0, Time(1us));  // the other one
  finish(begin(), CallStatus::peer_closed);
  circumstances.disrupted = true;
  judge();
  EXPECT_EQ(only(verdict), "honest_status");
}

TEST_F(LedgerTest, CallsToAClosedServerMayFail) {
  ledger.closed(1, Time(1us));
  for (const CallStatus status : {CallStatus::peer_closed, CallStatus::peer_timeout, CallStatus::peer_unreachable}) {
    finish(begin(), status);
  }
  judge();
  EXPECT_EQ(only(verdict), "");
}

TEST_F(LedgerTest, KnowsWhenNothingIsInbound) {
  EXPECT_TRUE(ledger.nothing_inbound(1));
  const auto rpc = begin();
  EXPECT_FALSE(ledger.nothing_inbound(1));
  deliver(rpc);
  EXPECT_TRUE(ledger.nothing_inbound(1));
  EXPECT_TRUE(ledger.nothing_inbound(0));
  ledger.replied(rpc, Time(1us));
  EXPECT_FALSE(ledger.nothing_inbound(0));
  finish(rpc);
  EXPECT_TRUE(ledger.nothing_inbound(0));
  const auto cancelled = begin();
  finish(cancelled, CallStatus::cancelled);
  EXPECT_FALSE(ledger.nothing_inbound(1));  // parts may still be under way
}

// --- memory ----------------------------------------------------------------------------------------------------

TEST(Payloads, ReleasedTwice) {
  EventLoop loop;
  Verdict verdict(loop);
  PayloadStore store(verdict);
  Rng rng(1);
  const std::uint64_t cookie = store.make(100, 5, 0, false, 3, rng).cookie;
  store.released(cookie);
  EXPECT_EQ(only(verdict), "");
  store.released(cookie);
  EXPECT_EQ(only(verdict), "payload_release");
}

TEST(Payloads, ReadAfterRelease) {
  EventLoop loop;
  Verdict verdict(loop);
  PayloadStore store(verdict);
  Rng rng(1);
  const protocol::Payload payload = store.make(100, 5, 0, false, 1, rng);
  const ByteView piece{payload.pieces[0].data + 50, 10};
  store.check_readable(piece);
  EXPECT_EQ(only(verdict), "");
  store.released(payload.cookie);
  store.check_readable(piece);
  EXPECT_EQ(only(verdict), "payload_read_after_release");
}

TEST(Payloads, PiecesCoverTheContent) {
  EventLoop loop;
  Verdict verdict(loop);
  PayloadStore store(verdict);
  Rng rng(1);
  const protocol::Payload payload = store.make(1001, 5, 0, false, 9, rng);
  std::vector<std::byte> whole;
  for (std::uint32_t i = 0; i < payload.piece_count; ++i) {
    whole.insert(whole.end(), payload.pieces[i].data, payload.pieces[i].data + payload.pieces[i].size);
  }
  ASSERT_EQ(whole.size(), 1001u);
  EXPECT_EQ(first_difference(5, whole.data(), 1001), 1001u);
}

TEST(Buffers, BoundedCountedAndChecked) {
  EventLoop loop;
  Verdict verdict(loop);
  CountingBuffers buffers(verdict, 1000);
  std::byte* first = buffers.allocate(600);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(buffers.allocate(600), nullptr);
  EXPECT_TRUE(buffers.owns(first + 599, 1));
  EXPECT_FALSE(buffers.owns(first + 599, 2));
  buffers.release(first, 600);
  EXPECT_EQ(buffers.in_use(), 0u);
  EXPECT_EQ(only(verdict), "");
  buffers.release(first, 600);
  EXPECT_EQ(only(verdict), "buffers");
}

TEST(Content, FindsEachWrongByte) {
  std::vector<std::byte> bytes(77);
  fill_content(3, bytes.data(), bytes.size());
  EXPECT_EQ(first_difference(3, bytes.data(), bytes.size()), bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{4};
    EXPECT_EQ(first_difference(3, bytes.data(), bytes.size()), i);
    EXPECT_EQ(first_difference(3, bytes.data(), bytes.size(), i + 1), bytes.size());
    bytes[i] ^= std::byte{4};
  }
}

// --- the wire --------------------------------------------------------------------------------------------------

class WireTest : public ::testing::Test {
 protected:
  WireTest() : verdict(loop), checker(loop, verdict) { checker.participant(server); }
  void pass(const Address& from, const Address& to, std::size_t size, std::uint32_t kinds = kAck) {
    Parcel parcel;
    parcel.from = from;
    parcel.to = to;
    parcel.sent = loop.now();
    parcel.bytes.resize(size);
    parcel.kinds = kinds;
    checker.sent(parcel);
    checker.delivered(parcel);
  }
  void pass_frame(const Address& from, const Address& to, const wire::Packet& packet, std::uint64_t destination) {
    Parcel parcel;
    parcel.from = from;
    parcel.to = to;
    const std::size_t size = wire::encoded_size(packet);
    parcel.bytes.resize(wire::kFrameHeaderSize + size);
    wire::FrameHeader header;
    header.destination.value = destination;
    wire::encode_frame_header(header, size, parcel.bytes.data());
    wire::encode_packet(packet, parcel.bytes.data() + wire::kFrameHeaderSize);
    wire::Frame frame;
    ASSERT_EQ(wire::decode_frame(parcel.view(), frame), wire::DecodeError::none);
    parcel.kinds = kinds_of(frame);
    checker.sent(parcel);
    checker.delivered(parcel);
  }
  const Address server{HostAddress::v4(10, 0, 0, 1), 7000};
  const Address stranger{HostAddress::v4(10, 9, 9, 9), 1};
  EventLoop loop;
  Verdict verdict;
  WireChecker checker;
};

TEST_F(WireTest, ThreeTimesIsAllowedToAnotherParticipant) {
  checker.participant(stranger);
  checker.initiated(stranger, server);
  pass(stranger, server, 100);
  for (int i = 0; i < 3; ++i) pass(server, stranger, 100);
  EXPECT_EQ(only(verdict), "");
  pass(server, stranger, 100);
  EXPECT_EQ(only(verdict), "amplification");
}

TEST_F(WireTest, AStrangerGetsOneAnswerPerQuestion) {
  pass(stranger, server, 1000);
  pass(server, stranger, 10);
  EXPECT_EQ(only(verdict), "");
  pass(server, stranger, 10);
  EXPECT_EQ(only(verdict), "hostile_reply");
}

TEST_F(WireTest, WhoEchoesTheIdIsProven) {
  wire::HelloPacket hello;
  hello.source.value = 0x1111;
  hello.incarnation = 5;
  hello.version_min = hello.version_max = 1;
  pass_frame(stranger, server, hello, 0);
  wire::HelloPacket answer = hello;
  answer.is_ack = true;
  answer.source.value = 0x2222;
  answer.slots = 16;
  pass_frame(server, stranger, answer, 0x1111);
  pass_frame(stranger, server, wire::PingPacket(), 0x2222);
  for (int i = 0; i < 50; ++i) pass(server, stranger, 1000);
  EXPECT_EQ(only(verdict), "");
}

TEST_F(WireTest, AStormOfControlPackets) {
  checker.initiated(server, stranger);
  for (int i = 0; i < 80; ++i) pass(server, stranger, 20);
  EXPECT_EQ(only(verdict), "");
  pass(server, stranger, 20);
  EXPECT_EQ(only(verdict), "control_storm");
}

TEST_F(WireTest, DataExcusesControlPackets) {
  checker.participant(stranger);
  checker.initiated(server, stranger);
  checker.initiated(stranger, server);
  for (int i = 0; i < 200; ++i) {
    pass(stranger, server, 1000, kData);
    pass(server, stranger, 20);
  }
  EXPECT_EQ(only(verdict), "");
}

// Seed 208378: data waited in the card of a slow host for longer than two windows, and its acknowledgments were blamed.
TEST_F(WireTest, DataThatArrivesLateExcusesControlPackets) {
  checker.participant(stranger);
  checker.initiated(server, stranger);
  checker.initiated(stranger, server);
  loop.run_until(Time{} + 1s);
  Parcel data;
  data.from = stranger;
  data.to = server;
  data.kinds = kData;
  data.bytes.resize(1000);
  for (int i = 0; i < 10; ++i) checker.delivered(data);  // sent at time 0
  for (int i = 0; i < 80 + 4 * 10; ++i) pass(server, stranger, 20);
  EXPECT_EQ(only(verdict), "");
  pass(server, stranger, 20);
  EXPECT_EQ(only(verdict), "control_storm");
}

// The same frame does not excuse twice.
TEST_F(WireTest, DataThatArrivesSoonCountsOnce) {
  checker.participant(stranger);
  checker.initiated(server, stranger);
  checker.initiated(stranger, server);
  pass(stranger, server, 1000, kData);
  for (int i = 0; i < 80 + 4; ++i) pass(server, stranger, 20);
  EXPECT_EQ(only(verdict), "");
  pass(server, stranger, 20);
  EXPECT_EQ(only(verdict), "control_storm");
}

TEST_F(WireTest, CountsFramesThatArriveTwice) {
  DuplicateCounter counter;
  Parcel parcel;
  parcel.from = stranger;
  parcel.to = server;
  parcel.kinds = kData;
  parcel.bytes.resize(50);
  counter.delivered(parcel);
  EXPECT_EQ(counter.arrived_again(server), 0u);
  counter.delivered(parcel);
  parcel.bytes[12] = std::byte{1};
  counter.delivered(parcel);
  EXPECT_EQ(counter.arrived_again(server), 1u);
}

}  // namespace
}  // namespace homa::sim
