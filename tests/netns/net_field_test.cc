// Faults from the field that need real interfaces, against src/net. Each test has hosts of its own.
#include <net/if.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "namespace.h"
#include "net/port_guard.h"
#include "net/resolve.h"
#include "support.h"

namespace homa::net::test {
namespace {

using homa::test::NetNamespace;
using homa::test::TwoHosts;

const std::string& trouble() {
  static const std::string reason = homa::test::prepare_namespaces();
  return reason;
}

Address at(const std::string& text) {
  const auto address = parse_address(text, NameLookup::numeric_only);
  if (!address) throw std::runtime_error(address.error().describe());
  return *address;
}

class Field : public testing::Test {
 protected:
  void SetUp() override {
    if (!trouble().empty()) GTEST_SKIP() << trouble();
    hosts_.emplace();
  }
  NetNamespace& a() { return hosts_->a; }
  NetNamespace& b() { return hosts_->b; }

  static UdpSocket open_in(const NetNamespace& host, const std::string& address, const UdpOptions& options = {}) {
    std::optional<UdpSocket> socket;
    host.run([&] { socket.emplace(must_open(at(address), options)); });
    return std::move(*socket);
  }

  std::optional<TwoHosts> hosts_;
};

TEST_F(Field, field_07_interface_that_is_down_is_an_error_with_a_name) {
  a().shell("ip link add spare type veth peer name spare2");
  a().shell("ip addr add 10.78.0.1/24 dev spare");
  a().shell("ip link set spare up");
  a().shell("ip link set spare down");
  a().run([] {
    const auto v4 = UdpSocket::open(at("10.78.0.1:0"));
    if (!v4) {
      EXPECT_EQ(v4.error().kind, NetErrorKind::address_not_local) << v4.error().describe();
      EXPECT_NE(v4.error().describe().find("10.78.0.1"), std::string::npos);
    }
    const auto missing = UdpSocket::open(at("[fe80::1%4711]:0"));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind, NetErrorKind::address_not_local) << missing.error().describe();
  });
}

TEST_F(Field, field_07_interface_that_goes_down_later_is_a_soft_error) {
  UdpSocket sender = open_in(a(), "0.0.0.0:0");
  UdpSocket receiver = open_in(b(), "10.77.0.2:0");
  const auto bytes = pattern(3000);
  a().shell("ip link set va down");
  const SendResult result = sender.send_train(view(bytes), 1000, receiver.local_address());
  EXPECT_EQ(result.status, SendStatus::unreachable) << errno_text(result.error);
  EXPECT_EQ(result.sent, 0u);
  a().shell("ip link set va up");
  EXPECT_EQ(sender.send_train(view(bytes), 1000, receiver.local_address()).sent, 3u);
  EXPECT_EQ(receive_all(receiver, 3).size(), 3u);
}

TEST_F(Field, field_10_emsgsize_is_told_at_once_and_offload_stays) {
  a().shell("ip link set va mtu 1280");
  for (const char* host : {"10.77.0.2", "[fd77::2]"}) {
    SCOPED_TRACE(host);
    const bool v4 = host[0] != '[';
    UdpSocket sender = open_in(a(), v4 ? "0.0.0.0:0" : "[::]:0");
    UdpSocket receiver = open_in(b(), std::string(host) + ":0");
    const std::size_t fits = 1280 - (v4 ? 28 : 48);
    const auto bytes = pattern(20 * 1472);
    const auto send = [&](std::size_t size) { return sender.send_train(view(bytes), size, receiver.local_address()); };
    EXPECT_EQ(send(1472).status, SendStatus::too_big);
    EXPECT_EQ(send(fits + 1).status, SendStatus::too_big);
    EXPECT_EQ(sender.send_train({bytes.data(), fits + 1}, fits + 1, receiver.local_address()).status,
              SendStatus::too_big);
    EXPECT_EQ(send(fits).status, SendStatus::sent);
    EXPECT_EQ(bytes_of(receive_all(receiver, cut(bytes, fits).size())), cut(bytes, fits));
    EXPECT_TRUE(drain(receiver).empty());
    EXPECT_EQ(sender.capabilities().gso, GsoState::usable);
    PeerError errors[8];
    ASSERT_GT(sender.read_errors(errors, 8), 0u);
    EXPECT_EQ(errors[0].kind, PeerError::Kind::too_big);
    EXPECT_EQ(errors[0].mtu, 1280u);
    EXPECT_TRUE(errors[0].local);
  }
}

TEST_F(Field, field_10_a_router_on_the_way_tells_its_mtu) {
  // a - b - c, and the link behind b is narrow.
  NetNamespace c;
  b().shell("ip link add vr type veth peer name vc netns " + c.path());
  b().shell("ip addr add 10.79.0.2/24 dev vr; ip link set vr mtu 1300 up; sysctl -qw net.ipv4.ip_forward=1");
  c.shell("ip addr add 10.79.0.3/24 dev vc; ip link set vc up; ip route add default via 10.79.0.2");
  a().shell("ip route add 10.79.0.0/24 via 10.77.0.2");
  UdpSocket sender = open_in(a(), "[::]:0");
  UdpSocket receiver = open_in(c, "10.79.0.3:0");
  const auto bytes = pattern(10 * 1472);
  ASSERT_EQ(sender.send_train(view(bytes), 1472, receiver.local_address()).sent, 10u);  // our own link takes them
  ASSERT_TRUE(wait_for(sender.fd(), POLLERR));
  PeerError error;
  ASSERT_EQ(sender.read_errors(&error, 1), 1u);
  EXPECT_EQ(error.kind, PeerError::Kind::too_big);
  EXPECT_EQ(error.mtu, 1300u);
  EXPECT_EQ(error.peer, receiver.local_address());
  EXPECT_FALSE(error.local);
  // The kernel now believes in 1300, but probes must still go out at the size that we choose.
  EXPECT_EQ(sender.send_train(view(bytes), 1472, receiver.local_address()).status, SendStatus::sent);
  EXPECT_EQ(sender.send_train({bytes.data(), 5000}, 1272, receiver.local_address()).sent, 4u);
  EXPECT_EQ(receive_all(receiver, 4).size(), 4u);
}

TEST_F(Field, field_18_a_local_filter_is_loss_not_failure) {
  if (!a().try_shell("nft add table inet f && nft 'add chain inet f o { type filter hook output priority 0; }' && "
                     "nft add rule inet f o udp dport 4444 drop")) {
    GTEST_SKIP() << "no nftables here";
  }
  UdpSocket sender = open_in(a(), "0.0.0.0:0");
  UdpSocket receiver = open_in(b(), "10.77.0.2:0");
  const auto bytes = pattern(3000);
  const SendResult result = sender.send_train(view(bytes), 1000, at("10.77.0.2:4444"));
  EXPECT_EQ(result.status, SendStatus::not_permitted);
  EXPECT_EQ(result.error, EPERM);
  EXPECT_EQ(sender.send_train(view(bytes), 1000, receiver.local_address()).sent, 3u);
  EXPECT_EQ(receive_all(receiver, 3).size(), 3u);
}

TEST_F(Field, field_29_link_local_peer_is_one_address_both_ways) {
  UdpSocket server = open_in(b(), "[::]:4000");
  UdpSocket client = open_in(a(), "[fe80::1%va]:0");
  std::optional<Address> to_server;
  std::optional<unsigned> scope_at_b;
  a().run([&] { to_server = at("[fe80::2%va]:4000"); });
  b().run([&] { scope_at_b = if_nametoindex("vb"); });
  const auto bytes = pattern(3000);
  ASSERT_EQ(client.send_train(view(bytes), 1000, *to_server).sent, 3u);
  const auto asked = receive_all(server, 3);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].from.host.scope, *scope_at_b);
  EXPECT_EQ(asked[0].to.scope, *scope_at_b);
  EXPECT_EQ(asked[0].from, asked[2].from);
  ASSERT_EQ(server.send_train(view(bytes), 1000, asked[0].from, asked[0].to).sent, 3u);
  const auto answers = receive_all(client, 3);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].from, *to_server);
  EXPECT_EQ(answers[0].to, client.local_address().host);
  // A global peer has no scope, though the kernel knows the interface.
  UdpSocket global = open_in(a(), "[fd77::1]:0");
  ASSERT_EQ(global.send_train(view(bytes), 1000, at("[fd77::2]:4000")).sent, 3u);
  EXPECT_EQ(receive_all(server, 3)[0].from, global.local_address());
}

TEST_F(Field, field_31_reply_leaves_from_the_address_that_was_asked) {
  b().shell("ip addr add 10.77.0.3/24 dev vb; ip addr add fd77::3/64 dev vb nodad");
  UdpSocket server = open_in(b(), "[::]:4000");
  const auto bytes = pattern(5000);
  for (const char* asked_host : {"10.77.0.2", "10.77.0.3", "[fd77::2]", "[fd77::3]"}) {
    SCOPED_TRACE(asked_host);
    const Address asked = at(std::string(asked_host) + ":4000");
    UdpSocket client = open_in(a(), asked.host.is_v4() ? "0.0.0.0:0" : "[::]:0");
    ASSERT_EQ(client.send_train(view(bytes), 1000, asked).sent, 5u);
    const auto got = receive_all(server, 5);
    ASSERT_EQ(got.size(), 5u);
    ASSERT_EQ(got[0].to, asked.host);
    ASSERT_EQ(server.send_train(view(bytes), 1000, got[0].from, got[0].to, 0xb9).sent, 5u);
    const auto answers = receive_all(client, 5);
    ASSERT_EQ(answers.size(), 5u);
    EXPECT_EQ(answers[0].from, asked);
    EXPECT_EQ(answers[0].tos, 0xb9);
    const Outgoing one{view(bytes), got[0].from, got[0].to, 2};
    ASSERT_EQ(server.send_batch(&one, 1).status, SendStatus::too_big);  // 5000 bytes, DF
    const Outgoing small{{bytes.data(), 1000}, got[0].from, got[0].to, 2};
    ASSERT_EQ(server.send_batch(&small, 1).sent, 1u);
    EXPECT_EQ(receive_all(client, 1)[0].from, asked);
  }
}

TEST_F(Field, field_32_interface_without_offload_still_gets_the_same_bytes) {
  a().shell("ethtool -K va tx off");
  for (const char* host : {"10.77.0.2", "[fd77::2]"}) {
    SCOPED_TRACE(host);
    const bool v4 = host[0] != '[';
    UdpSocket sender = open_in(a(), v4 ? "0.0.0.0:0" : "[::]:0");
    UdpSocket receiver = open_in(b(), std::string(host) + ":0");
    const auto bytes = pattern(64000);
    const auto expected = cut(bytes, 1400);
    const SendResult result = sender.send_train(view(bytes), 1400, receiver.local_address());
    EXPECT_EQ(result.status, SendStatus::sent) << errno_text(result.error);
    EXPECT_EQ(result.sent, expected.size());
    EXPECT_EQ(bytes_of(receive_all(receiver, expected.size())), expected);
    EXPECT_TRUE(drain(receiver).empty());
  }
}

TEST_F(Field, field_32_a_route_that_refuses_offload_is_found_at_the_first_train) {
  // IPsec refuses UDP segmentation with EIO on every kernel.
  const std::string state =
      "ip xfrm state add src 10.77.0.1 dst 10.77.0.2 proto esp spi 0x77 reqid 7 mode transport "
      "auth 'hmac(sha256)' 0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f enc 'ecb(cipher_null)' "
      "''";
  const std::string policy =
      "ip xfrm policy add src 10.77.0.1 dst 10.77.0.2 dir out tmpl src 10.77.0.1 dst 10.77.0.2 proto esp reqid 7 "
      "mode transport";
  if (!a().try_shell(state) || !b().try_shell(state) || !a().try_shell(policy)) GTEST_SKIP() << "no IPsec here";
  UdpSocket sender = open_in(a(), "0.0.0.0:0");
  UdpSocket receiver = open_in(b(), "10.77.0.2:0");
  const auto bytes = pattern(64000);
  const auto expected = cut(bytes, 1300);
  for (int round = 0; round < 2; ++round) {
    const SendResult result = sender.send_train(view(bytes), 1300, receiver.local_address());
    EXPECT_EQ(result.status, SendStatus::sent) << errno_text(result.error);
    EXPECT_EQ(result.sent, expected.size());
    EXPECT_EQ(bytes_of(receive_all(receiver, expected.size())), expected);
  }
  EXPECT_TRUE(drain(receiver).empty());
  EXPECT_EQ(sender.counters().gso_refused, 1u);
  EXPECT_EQ(sender.gso_error(), EIO);
  EXPECT_EQ(sender.capabilities().gso, GsoState::refused);
}

/// A sender at a queue of 200 Mbit/s, with and without offload, that goes on through every back-pressure.
class BackPressure : public Field, public testing::WithParamInterface<bool> {
 protected:
  static constexpr std::size_t kSegment = 1472;

  /// Sends `bytes` in order through a queue of this burst and limit.
  void push(const std::string& queue, const std::vector<std::byte>& bytes, UdpOptions options = {}) {
    a().shell("tc qdisc add dev va root tbf rate 200mbit " + queue);
    options.gso = GetParam();
    sender_.emplace(open_in(a(), "0.0.0.0:0", options));
    receiver_.emplace(open_in(b(), "10.77.0.2:0"));
    const Time end = now() + 20s;
    std::size_t at = 0;
    while (at < bytes.size()) {
      ASSERT_LT(now(), end) << "only " << at << " bytes went";
      const ByteView rest{bytes.data() + at, bytes.size() - at};
      const SendResult result = sender_->send_train(rest, kSegment, receiver_->local_address());
      at = std::min(bytes.size(), at + result.sent * kSegment);
      keep(drain(*receiver_));
      if (result.status != SendStatus::sent) bear(result);
    }
  }
  /// Waits until `count` datagrams have come.
  void receive(std::size_t count) {
    while (got_.size() < count) {
      auto more = receive_all(*receiver_, 1);
      ASSERT_FALSE(more.empty()) << "only " << got_.size();
      keep(std::move(more));
    }
  }
  void keep(std::vector<Got> more) {
    for (Got& one : more) got_.push_back(std::move(one));
  }
  /// For comparing what came regardless of order: a queue that is emptied now by the sender and now by its timer feeds
  /// the other host from two CPUs, and these overtake each other.
  static std::vector<std::string> sorted(const std::vector<std::vector<std::byte>>& datagrams) {
    std::vector<std::string> texts;
    for (const auto& bytes : datagrams) texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::sort(texts.begin(), texts.end());
    return texts;
  }
  void expect_exactly(const std::vector<std::byte>& bytes) const {
    EXPECT_EQ(sorted(bytes_of(got_)), sorted(cut(bytes, kSegment)));
    EXPECT_GT(pressed_, 0u);
  }

  std::optional<UdpSocket> sender_;
  std::optional<UdpSocket> receiver_;
  std::vector<Got> got_;
  std::size_t pressed_ = 0;

 private:
  void bear(const SendResult& result) {
    ++pressed_;
    if (result.status == SendStatus::would_block) {
      ASSERT_TRUE(wait_for(sender_->fd(), POLLOUT));
    } else {
      ASSERT_EQ(result.status, SendStatus::no_buffers) << errno_text(result.error);
      (void)wait_for(receiver_->fd(), POLLIN, 2ms);  // no event tells when the queue has room
    }
  }
};

TEST_P(BackPressure, field_34_tiny_send_buffer_loses_and_doubles_nothing) {
  UdpOptions options;
  options.send_buffer = 1;  // the kernel's minimum
  const auto bytes = pattern(1000 * kSegment + 7);
  ASSERT_NO_FATAL_FAILURE(push("burst 64kb limit 4mb", bytes, options));
  ASSERT_NO_FATAL_FAILURE(receive(1001));
  expect_exactly(bytes);
}

TEST_P(BackPressure, field_34_full_interface_queue_is_no_buffers_and_exact) {
  const auto bytes = pattern(1000 * kSegment);
  // A burst above 64 KB, so that the queue takes or refuses a train as a whole.
  ASSERT_NO_FATAL_FAILURE(push("burst 128kb limit 200kb", bytes));
  ASSERT_NO_FATAL_FAILURE(receive(1000));
  expect_exactly(bytes);
}

TEST_P(BackPressure, field_34_queue_that_cuts_trains_loses_but_doubles_nothing) {
  const auto bytes = pattern(1000 * kSegment);
  // A burst below 64 KB: tbf cuts the train itself and calls it sent when any part found room.
  ASSERT_NO_FATAL_FAILURE(push("burst 16kb limit 100kb", bytes));
  keep(receive_all(*receiver_, 1000 - got_.size(), 100ms));
  const auto arrived = sorted(bytes_of(got_));
  const auto sent = sorted(cut(bytes, kSegment));
  EXPECT_TRUE(std::includes(sent.begin(), sent.end(), arrived.begin(), arrived.end()));
  EXPECT_GT(got_.size(), 100u);
}

INSTANTIATE_TEST_SUITE_P(Offload, BackPressure, testing::Bool(),
                         [](const auto& param_info) { return param_info.param ? "gso" : "single"; });

TEST_F(Field, backlog_is_seen_while_it_waits_in_the_queue) {
  a().shell("tc qdisc add dev va root tbf rate 1mbit burst 2kb limit 4mb");
  UdpSocket sender = open_in(a(), "0.0.0.0:0");
  UdpSocket receiver = open_in(b(), "10.77.0.2:0");
  const auto bytes = pattern(60000);
  ASSERT_EQ(sender.send_train(view(bytes), 1000, receiver.local_address()).sent, 60u);
  EXPECT_GT(sender.backlog_bytes(), 30000u);
}

TEST_F(Field, field_36_overflow_is_noticed_and_the_sysctl_named) {
  UdpOptions small;
  small.receive_buffer = 208 << 10;
  UdpSocket receiver = open_in(b(), "[::]:4000", small);
  UdpSocket sender = open_in(a(), "0.0.0.0:0");
  const auto bytes = pattern(60 * 1472);
  std::size_t sent = 0;
  for (int i = 0; i < 20; ++i) {
    const SendResult result = sender.send_train(view(bytes), 1472, at("10.77.0.2:4000"));
    ASSERT_EQ(result.status, SendStatus::sent);
    sent += result.sent;
  }
  receiver.refresh_queue_drops();
  std::size_t got = drain(receiver).size();
  EXPECT_GT(receiver.counters().queue_drops, 0u);
  EXPECT_LT(got, sent);
  ASSERT_EQ(sender.send_train({bytes.data(), 100}, 100, at("10.77.0.2:4000")).sent, 1u);
  got += receive_all(receiver, 1).size();
  EXPECT_GT(got, 100u);
  RecordProperty("sent", static_cast<int>(sent));
  RecordProperty("lost_datagrams", static_cast<int>(sent + 1 - got));
  RecordProperty("counted_drops", static_cast<int>(receiver.counters().queue_drops));
  BufferSizes sizes = receiver.buffer_sizes();
  sizes.receive.asked *= 2;
  EXPECT_NE(buffer_advice(sizes).find("net.core.rmem_max"), std::string::npos);
}

TEST_F(Field, field_37_second_process_is_refused_per_namespace) {
  std::optional<PortGuard> guard;
  a().run([&] { guard.emplace(std::move(*PortGuard::acquire(at("0.0.0.0:4000")))); });
  UdpOptions shard;
  shard.reuse_port = true;
  UdpSocket socket = open_in(a(), "0.0.0.0:4000", shard);
  const auto exit_code_of_child = [](const NetNamespace& host) {
    int status = -1;
    host.run([&] {
      const pid_t child = fork();
      if (child == 0) _exit(PortGuard::acquire(at("0.0.0.0:4000")) ? 10 : 11);
      waitpid(child, &status, 0);
    });
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(exit_code_of_child(a()), 11);
  EXPECT_EQ(exit_code_of_child(b()), 10);  // another network: another port
}

}  // namespace
}  // namespace homa::net::test
