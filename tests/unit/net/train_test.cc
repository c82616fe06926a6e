// Trains go out and come back as the same datagrams, with and without offload, over both IP versions.
#include "support.h"

namespace homa::net::test {
namespace {

struct Case {
  HostAddress host;
  bool gso;
  bool gro;
};

class Train : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!GetParam().host.is_v4() && !have_ipv6()) GTEST_SKIP() << "no IPv6 on loopback";
    UdpOptions options;
    options.gso = GetParam().gso;
    options.gro = GetParam().gro;
    sender_.emplace(must_open({GetParam().host, 0}, options));
    receiver_.emplace(must_open({GetParam().host, 0}, options));
  }

  void round_trip(std::size_t total, std::size_t segment_size) {
    SCOPED_TRACE(testing::Message() << total << " bytes in segments of " << segment_size);
    const auto sent = pattern(total, total * 31 + segment_size);
    const auto expected = cut(sent, segment_size);
    const SendResult result = sender_->send_train(view(sent), segment_size, receiver_->local_address());
    ASSERT_EQ(result.status, SendStatus::sent) << errno_text(result.error);
    ASSERT_EQ(result.sent, expected.size());
    const auto got = receive_all(*receiver_, expected.size());
    ASSERT_EQ(bytes_of(got), expected);
    for (const Got& one : got) {
      ASSERT_EQ(one.from, sender_->local_address());
      ASSERT_EQ(one.to, receiver_->local_address().host);
    }
  }

  std::optional<UdpSocket> sender_;
  std::optional<UdpSocket> receiver_;
};

TEST_P(Train, every_segment_size_with_short_and_full_ends) {
  for (std::size_t segment :
       {1u, 2u, 16u, 100u, 1000u, 1200u, 1232u, 1252u, 1452u, 1472u, 4000u, 8952u, 20000u, 32753u}) {
    const std::size_t most = std::min<std::size_t>(64, 65507 / segment);
    for (std::size_t total : {segment, segment + 1, 2 * segment - 1, 2 * segment, most * segment}) {
      round_trip(total, segment);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Train, largest_single_datagram) {
  // With DF set the loopback's MTU of 65536 bounds IPv6, and the IP length field bounds IPv4.
  const std::size_t most = GetParam().host.is_v4() ? 65507 : 65536 - 48;
  round_trip(most, most);
}

TEST_P(Train, all_65507_bytes_in_one_train) {
  round_trip(65507, 1472);
}

TEST_P(Train, longer_than_one_call_is_cut) {
  round_trip(150 * 100, 100);
  round_trip(200000, 1472);
}

TEST_P(Train, uses_offload_only_when_asked) {
  round_trip(10 * 1472, 1472);
  EXPECT_EQ(sender_->counters().segmented_sends, GetParam().gso ? 1u : 0u);
  EXPECT_EQ(sender_->counters().single_sends, GetParam().gso ? 0u : 10u);
  EXPECT_EQ(sender_->counters().gso_refused, 0u);
  EXPECT_EQ(sender_->capabilities().gso, GetParam().gso ? GsoState::usable : GsoState::forced_off);
}

TEST_P(Train, empty_train_sends_nothing) {
  const SendResult result = sender_->send_train({}, 1472, receiver_->local_address());
  EXPECT_EQ(result.status, SendStatus::sent);
  EXPECT_EQ(result.sent, 0u);
  EXPECT_TRUE(drain(*receiver_).empty());
}

TEST_P(Train, above_what_udp_carries_is_too_big) {
  const auto bytes = pattern(65528);
  const SendResult result = sender_->send_train(view(bytes), bytes.size(), receiver_->local_address());
  EXPECT_EQ(result.status, SendStatus::too_big);
  EXPECT_EQ(result.sent, 0u);
}

INSTANTIATE_TEST_SUITE_P(Families, Train,
                         testing::Values(Case{kLoopback4, true, true}, Case{kLoopback4, true, false},
                                         Case{kLoopback4, false, true}, Case{kLoopback4, false, false},
                                         Case{kLoopback6, true, true}, Case{kLoopback6, true, false},
                                         Case{kLoopback6, false, true}, Case{kLoopback6, false, false}),
                         [](const auto& param_info) {
                           return std::string(param_info.param.host.is_v4() ? "v4" : "v6") +
                                  (param_info.param.gso ? "_gso" : "_single") +
                                  (param_info.param.gro ? "_gro" : "_plain");
                         });

TEST(Batch, small_datagrams_to_many_peers) {
  UdpSocket sender = must_open({kLoopback4, 0});
  std::vector<UdpSocket> peers;
  for (int i = 0; i < 5; ++i) peers.push_back(must_open({kLoopback4, 0}));
  std::vector<std::vector<std::byte>> payloads;
  std::vector<Outgoing> items;
  for (std::size_t i = 0; i < 150; ++i) payloads.push_back(pattern(i % 7 * 30, i));  // zero length too
  for (std::size_t i = 0; i < 150; ++i) items.push_back({view(payloads[i]), peers[i % 5].local_address(), {}, 0});
  const SendResult result = sender.send_batch(items.data(), items.size());
  ASSERT_EQ(result.status, SendStatus::sent);
  ASSERT_EQ(result.sent, 150u);
  for (std::size_t p = 0; p < 5; ++p) {
    const auto got = receive_all(peers[p], 30);
    ASSERT_EQ(got.size(), 30u);
    for (std::size_t k = 0; k < 30; ++k) EXPECT_EQ(got[k].bytes, payloads[p + 5 * k]);
  }
}

TEST(Batch, stops_exactly_at_the_item_that_cannot_go) {
  UdpSocket sender = must_open({kLoopback4, 0});
  UdpSocket peer = must_open({kLoopback4, 0});
  const auto small = pattern(100);
  const auto huge = pattern(65528);
  std::vector<Outgoing> items(100, Outgoing{view(small), peer.local_address(), {}, 0});
  items[70].bytes = view(huge);
  SendResult result = sender.send_batch(items.data(), items.size());
  EXPECT_EQ(result.status, SendStatus::too_big);
  EXPECT_EQ(result.sent, 70u);
  items[80].to.host = kLoopback6;
  result = sender.send_batch(items.data() + 71, items.size() - 71);
  EXPECT_EQ(result.status, SendStatus::bad_address);
  EXPECT_EQ(result.sent, 9u);
  EXPECT_EQ(receive_all(peer, 79).size(), 79u);
  EXPECT_TRUE(drain(peer).empty());
}

}  // namespace
}  // namespace homa::net::test
