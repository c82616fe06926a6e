// Datagrams that the kernel coalesced before it steered them: one buffer holds frames of several shards.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <vector>

#include "runtime/shard.h"
#include "support.h"
#include "wire/datagram.h"

namespace homa::runtime {
namespace {

using net::test::kLoopback4;
using net::test::must_open;

constexpr std::size_t kShards = 2;
constexpr std::size_t kFrame = wire::kFrameHeaderSize + wire::kPingSize;

/// Two shards that believe to share a port. What comes to the first one's socket is for both.
class CoalescedTest : public testing::Test {
 protected:
  void SetUp() override {
    ShardSettings settings;
    settings.config.incarnation = 1;
    settings.wait = WaitMode::block;
    for (ShardLink*& link : links_) {
      net::Result<net::Wakeup> wakeup = net::Wakeup::create();
      ASSERT_TRUE(wakeup);
      link = new ShardLink(std::move(*wakeup));
      settings.siblings.push_back(link);
    }
    for (std::size_t i = 0; i < kShards; ++i) {
      settings.config.shard = static_cast<std::uint8_t>(i);
      shards_.push_back(std::make_unique<Shard>(must_open({kLoopback4, 0}), *links_[i], settings, nullptr));
    }
  }
  void TearDown() override {
    shards_.clear();
    for (ShardLink* link : links_) link->drop_reference();
  }

  /// Adds a frame to an id that nobody has: whoever gets it answers by naming it.
  void add(std::vector<std::byte>& train, std::size_t shard, std::uint32_t number) {
    wire::FrameHeader header;
    header.lane = kControlPriority;
    header.destination = {(std::uint64_t{shard} << 56) | 42};
    header.packet_number = number;
    train.resize(train.size() + kFrame);
    std::byte* frame = train.data() + train.size() - kFrame;
    wire::encode_packet(wire::PingPacket{}, frame + wire::kFrameHeaderSize);
    wire::encode_frame_header(header, wire::kPingSize, frame);
  }
  const protocol::Counters& protocol_of(std::size_t shard) const { return shards_[shard]->endpoint().counters(); }

  std::array<ShardLink*, kShards> links_{};
  std::vector<std::unique_ptr<Shard>> shards_;
  net::UdpSocket sender_ = must_open({kLoopback4, 0});
};

TEST_F(CoalescedTest, EachFrameComesToTheShardThatItNames) {
  const std::size_t order[] = {0, 1, 1, 0, 1};
  std::vector<std::byte> train;
  std::set<std::pair<std::uint64_t, std::uint32_t>> expected;
  for (std::uint32_t number = 1; number <= std::size(order); ++number) {
    const std::size_t shard = order[number - 1];
    add(train, shard, number);
    expected.emplace((std::uint64_t{shard} << 56) | 42, number);
  }
  const net::SendResult sent = sender_.send_train({train.data(), train.size()}, kFrame, shards_[0]->local_address());
  ASSERT_EQ(sent.sent, std::size(order)) << net::errno_text(sent.error);
  ASSERT_TRUE(net::test::wait_for(shards_[0]->socket().fd(), POLLIN));

  while (protocol_of(0).datagrams_received + shards_[0]->counters().handed_over < std::size(order)) {
    ASSERT_TRUE(shards_[0]->turn());
  }
  if (sender_.counters().segmented_sends > 0) {
    EXPECT_EQ(shards_[0]->counters().receive_buffers, 1u) << "it came as one";
  }
  EXPECT_EQ(shards_[0]->counters().handed_over, 3u);
  EXPECT_EQ(protocol_of(0).datagrams_received, 2u);
  EXPECT_EQ(protocol_of(1).datagrams_received, 0u) << "the other one's thread takes it in its own turn";
  EXPECT_TRUE(shards_[1]->turn());
  EXPECT_EQ(protocol_of(1).datagrams_received, 3u);
  EXPECT_EQ(protocol_of(0).datagrams_unknown + protocol_of(1).datagrams_unknown, 5u) << "all whole";

  std::set<std::pair<std::uint64_t, std::uint32_t>> answered;
  for (const net::test::Got& got : net::test::receive_all(sender_, std::size(order))) {
    wire::Frame frame;
    ASSERT_EQ(wire::decode_frame(net::test::view(got.bytes), frame), wire::DecodeError::none);
    ASSERT_TRUE(frame.header.reversed);
    answered.emplace(frame.header.destination.value, frame.header.packet_number);
    const std::size_t shard = frame.header.destination.value >> 56;
    EXPECT_EQ(got.from, shards_[shard]->local_address());
  }
  EXPECT_EQ(answered, expected);
}

}  // namespace
}  // namespace homa::runtime
