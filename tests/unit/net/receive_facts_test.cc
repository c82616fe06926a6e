// What a received datagram tells besides its bytes: source, destination, TOS; and what happens when it does not fit.
#include <sys/socket.h>

#include "support.h"

namespace homa::net::test {
namespace {

struct Pair {
  HostAddress bind;
  HostAddress peer;  // as the receiver must see the sender
  const char* name;
};

class Facts : public testing::TestWithParam<Pair> {
 protected:
  void SetUp() override {
    if (!have_ipv6() && !GetParam().bind.is_v4()) GTEST_SKIP() << "no IPv6 on loopback";
  }
};

TEST_P(Facts, tos_and_ecn_arrive_as_sent_both_ways) {
  UdpSocket server = must_open({GetParam().bind, 0});
  UdpSocket client = must_open({GetParam().peer, 0});
  const Address server_address{GetParam().peer, server.local_address().port};
  const auto bytes = pattern(3000);
  for (int tos = 0; tos < 256; tos += 5) {
    const auto wanted = static_cast<std::uint8_t>(tos);
    ASSERT_EQ(client.send_train(view(bytes), 1000, server_address, {}, wanted).sent, 3u);
    const auto asked = receive_all(server, 3);
    ASSERT_EQ(asked.size(), 3u);
    EXPECT_EQ(asked[2].tos, wanted);
    const Outgoing answer{view(bytes), asked[0].from, asked[0].to, wanted};
    ASSERT_EQ(server.send_batch(&answer, 1).sent, 1u);
    const auto got = receive_all(client, 1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].tos, wanted);
  }
}

TEST_P(Facts, a_tos_that_many_sends_had_does_not_stick_to_others) {
  UdpSocket server = must_open({GetParam().bind, 0});
  UdpSocket client = must_open({GetParam().bind, 0});
  const Address server_address{GetParam().peer, server.local_address().port};
  const auto bytes = pattern(100);
  for (const std::uint8_t settled : std::initializer_list<std::uint8_t>{0xb8, 0x28, 0x00}) {
    for (int i = 0; i < 40; ++i) ASSERT_EQ(client.send_train(view(bytes), 100, server_address, {}, settled).sent, 1u);
    const Outgoing mixed[] = {{view(bytes), server_address, {}, settled},
                              {view(bytes), server_address, {}, 0},
                              {view(bytes), server_address, {}, 0x48}};
    ASSERT_EQ(client.send_batch(mixed, 3).sent, 3u);
    const auto got = receive_all(server, 43);
    ASSERT_EQ(got.size(), 43u);
    for (int i = 0; i < 41; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)].tos, settled) << i;
    EXPECT_EQ(got[41].tos, 0);
    EXPECT_EQ(got[42].tos, 0x48);
  }
}

TEST_P(Facts, a_socket_bound_to_one_address_knows_it_as_destination_and_source) {
  UdpSocket server = must_open({GetParam().peer, 0});
  UdpSocket client = must_open({GetParam().bind, 0});
  const auto bytes = pattern(10);
  ASSERT_EQ(client.send_train(view(bytes), 10, server.local_address()).sent, 1u);
  const auto got = receive_all(server, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].to, GetParam().peer);
  ASSERT_EQ(server.send_train(view(bytes), 10, got[0].from, got[0].to).sent, 1u);
  const auto answer = receive_all(client, 1);
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].from, server.local_address());
}

TEST_P(Facts, source_and_destination_are_canonical) {
  UdpSocket server = must_open({GetParam().bind, 0});
  UdpSocket client = must_open({GetParam().peer, 0});
  const auto bytes = pattern(10);
  ASSERT_EQ(client.send_train(view(bytes), 10, {GetParam().peer, server.local_address().port}).sent, 1u);
  const auto got = receive_all(server, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].from, client.local_address());
  EXPECT_EQ(got[0].to, GetParam().peer);
}

INSTANTIATE_TEST_SUITE_P(Families, Facts,
                         testing::Values(Pair{kAny4, kLoopback4, "v4"}, Pair{kAny6, kLoopback6, "v6"},
                                         Pair{kAny6, kLoopback4, "v4_to_dual_stack"}),
                         [](const auto& param_info) { return param_info.param.name; });

TEST(Reply, field_31_leaves_from_the_address_that_was_asked) {
  for (const HostAddress& bind : {kAny4, kAny6}) {
    if (bind == kAny6 && !have_ipv6()) continue;
    UdpSocket server = must_open({bind, 0});
    UdpSocket client = must_open({kAny4, 0});
    const auto bytes = pattern(5000);
    for (std::uint8_t last : {std::uint8_t{7}, std::uint8_t{9}}) {
      const HostAddress asked = HostAddress::v4(127, 0, 0, last);
      ASSERT_EQ(client.send_train(view(bytes), 5000, {asked, server.local_address().port}).sent, 1u);
      const auto got = receive_all(server, 1);
      ASSERT_EQ(got.size(), 1u);
      EXPECT_EQ(got[0].to, asked);
      ASSERT_EQ(server.send_train(view(bytes), 1000, got[0].from, got[0].to).sent, 5u);
      const auto answers = receive_all(client, 5);
      ASSERT_EQ(answers.size(), 5u);
      EXPECT_EQ(answers[4].from, (Address{asked, server.local_address().port}));
    }
  }
}

TEST(Truncation, what_does_not_fit_is_dropped_and_counted) {
  UdpOptions plain;
  plain.gro = false;
  UdpSocket receiver = must_open({kLoopback4, 0}, plain);
  UdpSocket sender = must_open({kLoopback4, 0});
  const auto big = pattern(600);
  const auto small = pattern(500);
  ASSERT_EQ(sender.send_train(view(big), 600, receiver.local_address()).sent, 1u);
  ASSERT_EQ(sender.send_train(view(small), 500, receiver.local_address()).sent, 1u);
  ReceiveBatch batch(4, 512);
  ASSERT_EQ(receiver.receive(batch), ReceiveStatus::received);
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(copy(batch[0].bytes), small);
  EXPECT_EQ(receiver.counters().truncated, 1u);
}

TEST(Batching, a_full_batch_says_that_more_may_be_there) {
  UdpSocket receiver = must_open({kLoopback4, 0});
  UdpSocket sender = must_open({kLoopback4, 0});
  const auto bytes = pattern(100);
  for (int i = 0; i < 7; ++i) ASSERT_EQ(sender.send_train(view(bytes), 100, receiver.local_address()).sent, 1u);
  ReceiveBatch batch(4);
  ASSERT_EQ(receiver.receive(batch), ReceiveStatus::received);
  EXPECT_TRUE(batch.full());
  ASSERT_EQ(receiver.receive(batch), ReceiveStatus::received);
  EXPECT_FALSE(batch.full());
  EXPECT_EQ(batch.size(), 3u);
  EXPECT_EQ(receiver.receive(batch), ReceiveStatus::empty);
  EXPECT_TRUE(batch.empty());
}

TEST(Coalescing, a_train_comes_in_one_buffer) {
  UdpSocket receiver = must_open({kLoopback4, 0});
  UdpSocket sender = must_open({kLoopback4, 0});
  if (!receiver.capabilities().gro || sender.capabilities().gso != GsoState::usable) GTEST_SKIP() << "no UDP offload";
  const auto bytes = pattern(40 * 1472 + 5);
  ASSERT_EQ(sender.send_train(view(bytes), 1472, receiver.local_address()).sent, 41u);
  ReceiveBatch batch;
  ASSERT_EQ(receiver.receive(batch), ReceiveStatus::received);
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch[0].segment_size, 1472u);
  EXPECT_EQ(batch[0].segment_count(), 41u);
  EXPECT_EQ(batch[0].segment(40).size, 5u);
}

TEST(Overflow, field_36_drops_are_counted_exactly) {
  UdpOptions options;
  options.receive_buffer = 32 << 10;
  UdpSocket receiver = must_open({kLoopback4, 0}, options);
  UdpSocket sender = must_open({kLoopback4, 0});
  const auto bytes = pattern(1000);
  for (int i = 0; i < 500; ++i) ASSERT_EQ(sender.send_train(view(bytes), 1000, receiver.local_address()).sent, 1u);
  receiver.refresh_queue_drops();
  const std::uint64_t at_once = receiver.counters().queue_drops;
  const std::size_t got = drain(receiver).size();
  EXPECT_GT(at_once, 0u);
  EXPECT_EQ(got + at_once, 500u);
  ASSERT_EQ(sender.send_train(view(bytes), 1000, receiver.local_address()).sent, 1u);  // carries the kernel's counter
  ASSERT_EQ(receive_all(receiver, 1).size(), 1u);
  EXPECT_EQ(receiver.counters().queue_drops, at_once);
}

TEST(Overflow, field_36_drops_are_noticed_from_the_next_datagram) {
  UdpOptions options;
  options.receive_buffer = 32 << 10;
  UdpSocket receiver = must_open({kLoopback4, 0}, options);
  UdpSocket sender = must_open({kLoopback4, 0});
  const auto bytes = pattern(1000);
  for (int i = 0; i < 500; ++i) ASSERT_EQ(sender.send_train(view(bytes), 1000, receiver.local_address()).sent, 1u);
  std::size_t got = drain(receiver).size();
  ASSERT_EQ(sender.send_train(view(bytes), 1000, receiver.local_address()).sent, 1u);
  got += receive_all(receiver, 1).size();
  EXPECT_EQ(got + receiver.counters().queue_drops, 501u);
}

TEST(Overflow, payload_capacity_is_an_underestimate_on_loopback) {
  UdpOptions options;
  options.receive_buffer = 256 << 10;
  options.gro = false;
  UdpSocket sender = must_open({kLoopback4, 0});
  for (std::size_t size : {32u, 200u, 1000u, 1472u}) {
    UdpSocket receiver = must_open({kLoopback4, 0}, options);
    const std::size_t held = payload_capacity(receiver.buffer_sizes().receive.effective, size);
    const auto bytes = pattern(size);
    for (std::size_t i = 0; i < held / size; ++i) {
      ASSERT_EQ(sender.send_train(view(bytes), size, receiver.local_address()).sent, 1u);
    }
    receiver.refresh_queue_drops();
    EXPECT_EQ(receiver.counters().queue_drops, 0u) << size;
  }
}

}  // namespace
}  // namespace homa::net::test
