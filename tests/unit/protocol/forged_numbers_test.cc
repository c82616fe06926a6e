// field_44: numbers that nobody of good will sends. The forger knows the association's id and the client's address: the
// worst case in clear.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "pair.h"
#include "wire/datagram.h"

namespace homa::protocol {
namespace {

class ForgedNumbers : public testing::Test {
 protected:
  // A call of 200 KB stands still in the middle: the first grants are out, the rest of the request is withheld.
  void SetUp() override {
    pair_.filter = [this](bool to_server, ByteView bytes) {
      static_cast<void>(wire::decode_frame_header(bytes, to_server ? to_server_ : to_client_));
      return !(to_server && ++sent_ > 60);
    };
    ASSERT_EQ(pair_.call(view(request_)).error, StartError::none);
    pair_.run([this] { return sent_ > 60; }, 100ms);
  }

  void forge(bool to_server, const wire::Packet& packet) {
    const wire::FrameHeader& seen = to_server ? to_server_ : to_client_;
    wire::FrameHeader header;
    header.lane = kControlPriority;
    header.destination = seen.destination;
    header.packet_number = next_number_++;
    std::array<std::byte, 4096> frame{};
    const std::size_t block = wire::encode_packet(packet, frame.data() + wire::kFrameHeaderSize);
    wire::encode_frame_header(header, block, frame.data());
    std::size_t size = wire::kFrameHeaderSize + block;
    if (const auto* data = std::get_if<wire::DataPacket>(&packet)) size += data->payload.size;
    Pair::Side& to = to_server ? pair_.server : pair_.client;
    const Pair::Side& from = to_server ? pair_.client : pair_.server;
    to.endpoint->receive({from.address, to.address.host, Ecn::not_ect, {frame.data(), size}}, arrival_, pair_.now);
  }

  void expect_unchanged(const char* what, bool to_server, const wire::Packet& packet) {
    SCOPED_TRACE(what);
    Endpoint& to = to_server ? *pair_.server.endpoint : *pair_.client.endpoint;
    const auto before = to.usage();
    forge(to_server, packet);
    const auto after = to.usage();
    EXPECT_EQ(after.calls, before.calls);
    EXPECT_EQ(after.requests, before.requests);
    EXPECT_EQ(after.receive_memory, before.receive_memory);
    EXPECT_EQ(after.incoming, before.incoming);
    EXPECT_EQ(after.send_memory, before.send_memory);
  }

  static wire::DataPacket data(wire::RpcId id, std::uint64_t offset, std::uint64_t length, std::uint64_t incoming) {
    static const std::array<std::byte, 100> payload{};
    wire::DataPacket packet;
    packet.id = id;
    packet.offset = offset;
    packet.message_length = length;
    packet.payload = {payload.data(), payload.size()};
    packet.first = offset == 0;
    packet.incoming = incoming;
    return packet;
  }

  const std::vector<std::byte> request_ = pattern(200'000);
  Pair pair_;
  wire::FrameHeader to_server_;
  wire::FrameHeader to_client_;
  int sent_ = 0;
  std::uint32_t next_number_ = 100'000;
  Arrival arrival_;
};

constexpr wire::RpcId kCurrent = wire::RpcId::of(0, 1);

TEST_F(ForgedNumbers, field_44_GrantsBeyondTheMessageOrOfNoMessageMoveNothing) {
  for (const std::uint64_t offset : {std::uint64_t{200'001}, std::uint64_t{0xffffffff}, wire::kMaxMessageLength}) {
    expect_unchanged("beyond the message", false, wire::GrantPacket{kCurrent, offset, kLowestPriority, false});
  }
  expect_unchanged("of a slot never used", false,
                   wire::GrantPacket{wire::RpcId::of(900, 1), 10, kLowestPriority, false});
  expect_unchanged("of a generation to come", false,
                   wire::GrantPacket{wire::RpcId::of(0, 0xffffffff), 10, kLowestPriority, false});
  EXPECT_EQ(pair_.client.endpoint->counters().grants_rejected, 5U);
}

TEST_F(ForgedNumbers, field_44_AcknowledgmentsOfNumbersNeverSentAreRejected) {
  for (const std::uint32_t largest : {50'000U, 0x7fffffffU, 0xffffffffU}) {
    wire::AckPacket ack;
    ack.lane = wire::lane_byte(to_server_.lane);
    ack.largest = largest;
    ack.range_count = 1;
    ack.ranges[0].length = 1;
    expect_unchanged("never sent", false, ack);
  }
  wire::AckPacket wrapping;
  wrapping.lane = wire::lane_byte(to_server_.lane);
  wrapping.largest = 1;
  wrapping.range_count = 1;
  wrapping.ranges[0].length = 0xffffffff;
  expect_unchanged("ranges below zero", false, wrapping);
  EXPECT_EQ(pair_.client.endpoint->counters().acks_rejected, 4U);
}

TEST_F(ForgedNumbers, field_44_DataThatContradictsWhatIsKnownIsRejected) {
  expect_unchanged("another length", true, data(kCurrent, 5000, 4'000'000'000, 0));
  expect_unchanged("never authorised", true, data(kCurrent, 199'000, 200'000, 0));
  expect_unchanged("a slot out of reach", true, data(wire::RpcId::of(0xffff, 1), 0, 100, 100));
  expect_unchanged("generation 0", true, data(wire::RpcId::of(5, 0), 0, 100, 100));
  expect_unchanged("a slot whose request still arrives", true, data(wire::RpcId::of(0, 2), 0, 100, 100));
  EXPECT_EQ(pair_.server.endpoint->counters().data_rejected, 5U);
  expect_unchanged("longer than any message", true, data(wire::RpcId::of(7, 1), 0, wire::kMaxMessageLength, 100));
}

TEST_F(ForgedNumbers, field_44_TheCallEndsWellAllTheSame) {
  forge(false, wire::GrantPacket{kCurrent, 200'001, kLowestPriority, false});
  forge(true, data(kCurrent, 5000, 4'000'000'000, 0));
  sent_ = -1'000'000;  // the network works again
  pair_.on_server_event = [this](const Event& event) {
    if (event.kind != Event::Kind::request) return;
    EXPECT_EQ(std::memcmp(event.message.data, request_.data(), request_.size()), 0);
    pair_.server.endpoint->release_message(event.message, pair_.now);
    pair_.reply(event.request, {});
  };
  bool done = false;
  pair_.on_client_event = [&](const Event& event) {
    if (event.kind == Event::Kind::call_finished) done = event.status == CallStatus::ok;
  };
  EXPECT_TRUE(pair_.run([&] { return done; }, 10s));
}

// A frame forged far ahead is named first in each acknowledgment from then on. The sender, who never sent it, must
// still learn the rest, or it probes for ever.
TEST(ForgedFrame, field_44_ANumberFarAheadStartsNoEndlessProbing) {
  for (const bool to_server : {true, false}) {
    for (const std::uint32_t ahead : {1'000U, 1'000'000U, 0x7fff0000U}) {
      SCOPED_TRACE(testing::Message() << (to_server ? "to the server, " : "to the client, ") << ahead << " ahead");
      Pair pair;
      pair.echo();
      std::map<int, wire::FrameHeader> lanes;
      pair.filter = [&](bool of_client, ByteView bytes) {
        wire::FrameHeader header;
        if (of_client == to_server) {
          static_cast<void>(wire::decode_frame_header(bytes, header));
          lanes[index(header.lane)] = header;
        }
        return true;
      };
      open(pair);
      for (auto& [lane, header] : lanes) {
        header.packet_number += ahead;
        std::array<std::byte, 64> frame{};
        const std::size_t block = wire::encode_packet(wire::PingPacket{}, frame.data() + wire::kFrameHeaderSize);
        wire::encode_frame_header(header, block, frame.data());
        pair.inject(to_server, (to_server ? pair.client : pair.server).address,
                    {frame.data(), wire::kFrameHeaderSize + block});
      }
      pair.filter = nullptr;
      const std::vector<std::byte> request = pattern(100'000);
      for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(pair.call(view(request)).error, StartError::none);
        const Time begin = pair.now;
        pair.drain();
        EXPECT_LT(pair.now - begin, 1s) << "something goes on and on";
      }
      EXPECT_EQ(pair.client.endpoint->counters().calls_succeeded, 4U);
      expect_idle(pair);
    }
  }
}

// A peer answers HELLO by an id that it uses, as our client, already.
TEST(ForgedId, field_44_TwoAssociationsOfOneNameAreNotMade) {
  Pair pair;
  const Address peer{HostAddress::v4(10, 0, 0, 9), 9};
  constexpr std::uint64_t kTwice = 0x777;
  std::array<std::byte, 128> frame{};
  const auto send = [&](wire::HelloPacket hello, wire::AssociationId destination, std::uint32_t number) {
    hello.source = {kTwice};
    hello.incarnation = 5;
    hello.slots = 16;
    hello.version_min = hello.version_max = wire::kVersion;
    hello.max_message_length = 1 << 20;
    const std::size_t block = wire::encode_packet(hello, frame.data() + wire::kFrameHeaderSize);
    wire::FrameHeader header;
    header.lane = kControlPriority;
    header.destination = destination;
    header.packet_number = number;
    wire::encode_frame_header(header, block, frame.data());
    pair.inject(false, peer, {frame.data(), wire::kFrameHeaderSize + block});
  };
  send({}, {}, 1);
  ASSERT_EQ(pair.client.endpoint->counters().associations_opened, 1U);

  // Our own call to it: the source id of our HELLO is what it answers to.
  wire::AssociationId ours;
  pair.on_train = [&](bool of_client, const Train& train) {
    std::array<std::byte, kMaxTrainBytes> bytes;
    wire::Frame decoded;
    const std::size_t size = flatten(train, bytes.data());
    if (!of_client || wire::decode_frame({bytes.data(), size}, decoded) != wire::DecodeError::none) return;
    const auto* hello = std::get_if<wire::HelloPacket>(&decoded.packets[0]);
    if (hello != nullptr && !hello->is_ack) ours = hello->source;
  };
  const std::vector<std::byte> request = pattern(10);
  const ByteView piece = view(request);
  ASSERT_EQ(pair.client.endpoint->start(peer, {&piece, 1, piece.size, 1}, {}, pair.now).error, StartError::none);
  pair.run([&] { return ours.value != 0; }, 1s);
  ASSERT_NE(ours.value, 0U);
  wire::HelloPacket answer;
  answer.is_ack = true;
  send(answer, ours, 2);
  EXPECT_EQ(pair.client.endpoint->counters().associations_opened, 1U);
  EXPECT_EQ(pair.client.endpoint->counters().hellos_refused, 1U);
  // It ends like a call to anybody who never answers, and leaves nothing.
  pair.run([&] { return Pair::count(pair.client, Event::Kind::call_finished) == 1; }, 60s);
  EXPECT_EQ(pair.status(), CallStatus::peer_unreachable);
}

}  // namespace
}  // namespace homa::protocol
