// The kernel sends each frame to the socket that it names, and guesses only when it names none.
#include "net/steering.h"

#include "net/port_guard.h"
#include "support.h"

namespace homa::net::test {
namespace {

std::vector<std::byte> frame(std::uint8_t shard, std::uint8_t peer_shard, bool reversed, std::size_t size = 40) {
  std::vector<std::byte> bytes(size);
  bytes[0] = static_cast<std::byte>(0x90 | (reversed ? 1 : 0));
  bytes[4] = static_cast<std::byte>(shard);
  bytes[5] = static_cast<std::byte>(peer_shard);
  bytes[11] = static_cast<std::byte>(0x5a);
  return bytes;
}

class Steering : public testing::TestWithParam<HostAddress> {
 protected:
  static constexpr std::size_t kShards = 4;

  void SetUp() override {
    if (!GetParam().is_v4() && !have_ipv6()) GTEST_SKIP() << "no IPv6 on loopback";
    auto guard = PortGuard::acquire({GetParam(), 0});
    ASSERT_TRUE(guard) << guard.error().describe();
    UdpOptions options;
    options.reuse_port = true;
    for (std::size_t i = 0; i < kShards; ++i) shards_.push_back(must_open(guard->address(), options));
    const NetError error = attach_steering(shards_[0].fd(), kShards);
    ASSERT_EQ(error.kind, NetErrorKind::none) << error.describe();
  }

  /// The shard at which a datagram from `client` arrives.
  std::size_t arrival(UdpSocket& client, const std::vector<std::byte>& bytes) {
    EXPECT_EQ(client.send_train(view(bytes), bytes.size(), shards_[0].local_address()).sent, 1u);
    std::size_t found = SIZE_MAX;
    for (std::size_t i = 0; i < kShards; ++i) {
      const auto got = drain(shards_[i]);
      if (got.empty()) continue;
      EXPECT_EQ(found, SIZE_MAX);
      EXPECT_EQ(got.size(), 1u);
      found = i;
    }
    EXPECT_NE(found, SIZE_MAX);
    return found;
  }

  /// Shards that many clients with different ports reach with the same bytes.
  std::vector<bool> spread(const std::vector<std::byte>& bytes) {
    std::vector<bool> reached(kShards);
    for (int i = 0; i < 64; ++i) {
      UdpSocket client = must_open({GetParam(), 0});
      reached[arrival(client, bytes)] = true;
    }
    return reached;
  }

  std::vector<UdpSocket> shards_;
};

TEST_P(Steering, by_byte_4) {
  UdpSocket client = must_open({GetParam(), 0});
  for (std::uint8_t shard = 0; shard < kShards; ++shard) {
    EXPECT_EQ(arrival(client, frame(shard, static_cast<std::uint8_t>((shard + 1) % kShards), false)), shard);
  }
}

TEST_P(Steering, by_byte_5_when_reversed) {
  UdpSocket client = must_open({GetParam(), 0});
  for (std::uint8_t shard = 0; shard < kShards; ++shard) {
    EXPECT_EQ(arrival(client, frame(static_cast<std::uint8_t>((shard + 1) % kShards), shard, true)), shard);
  }
}

TEST_P(Steering, the_shard_0_id_is_not_taken_for_no_id) {
  UdpSocket client = must_open({GetParam(), 0});
  auto bytes = frame(0, 0, false);  // high half zero: only byte 11 is set
  EXPECT_EQ(arrival(client, bytes), 0u);
  bytes[11] = std::byte{0};
  bytes[7] = std::byte{1};  // low half zero
  EXPECT_EQ(arrival(client, bytes), 0u);
}

TEST_P(Steering, zero_id_and_short_and_unknown_shard_spread_by_hash) {
  auto hello = frame(0, 0, false);
  hello[11] = std::byte{0};
  const std::vector<bool> all(kShards, true);
  EXPECT_EQ(spread(hello), all);
  EXPECT_EQ(spread(frame(2, 2, false, 15)), all);
  EXPECT_EQ(spread(frame(kShards, 0, false)), all);
  EXPECT_EQ(spread(frame(255, 0, false)), all);
}

TEST_P(Steering, a_train_follows_its_first_frame) {
  UdpSocket client = must_open({GetParam(), 0});
  std::vector<std::byte> train;
  for (int i = 0; i < 20; ++i) {
    const auto one = frame(3, 0, false, 1000);
    train.insert(train.end(), one.begin(), one.end());
  }
  ASSERT_EQ(client.send_train(view(train), 1000, shards_[0].local_address()).sent, 20u);
  EXPECT_EQ(receive_all(shards_[3], 20).size(), 20u);
}

INSTANTIATE_TEST_SUITE_P(Families, Steering, testing::Values(kLoopback4, kLoopback6),
                         [](const auto& param_info) { return param_info.param.is_v4() ? "v4" : "v6"; });

}  // namespace
}  // namespace homa::net::test
