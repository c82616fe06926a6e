// Faults from the field that need real interfaces and the whole stack, through the public API. Each test has hosts of
// its own.
#include "namespace.h"
#include "support.h"

namespace homa {
namespace {

using homa::test::NetNamespace;
using homa::test::TwoHosts;

const std::string& trouble() {
  static const std::string reason = homa::test::prepare_namespaces();
  return reason;
}

Address at(const char* text) {
  return parse_address(text).value();
}

class StackField : public testing::Test {
 protected:
  void SetUp() override {
    if (!trouble().empty()) GTEST_SKIP() << trouble();
    hosts_.emplace();
  }
  NetNamespace& a() { return hosts_->a; }
  NetNamespace& b() { return hosts_->b; }

  static Server serve_in(const NetNamespace& host, ServerOptions options, Server::Handler handler = echo) {
    std::optional<Server> server;
    host.run([&] { server.emplace(start_server(std::move(options), std::move(handler))); });
    return std::move(*server);
  }
  static Client client_in(const NetNamespace& host, ClientOptions options) {
    std::optional<Client> client;
    host.run([&] { client.emplace(open_client(std::move(options))); });
    return std::move(*client);
  }
  static ServerOptions everywhere() { return server_options(at(":4000")); }
  static ClientOptions anywhere() { return client_options(at(":0")); }

  /// Drops what arrives at the host and matches the rule. False, with the test skipped by the caller, without nftables.
  static bool drop_in(const NetNamespace& host, const std::string& match) {
    return host.try_shell(
        "nft add table inet t && nft add chain inet t i '{ type filter hook input priority 0 ; }' && " +
        ("nft add rule inet t i " + match) + " counter drop");
  }

  std::optional<TwoHosts> hosts_;
};

// A bridge dropped silently what was longer than its MTU: only retransmissions got through, 10 ms at a time.
TEST_F(StackField, field_09_a_path_narrower_than_both_interfaces_is_found) {
  for (const char* offload : {"tx-udp-segmentation", "gso", "tso", "gro"}) {
    a().try_shell(std::string("ethtool -K va ") + offload + " off");
    b().try_shell(std::string("ethtool -K vb ") + offload + " off");
  }
  a().shell("ip link set va mtu 9000");
  b().shell("ip link set vb mtu 9000");
  // 9000 all the way at first, so that both ends come to believe in it.
  const Server server = serve_in(b(), everywhere());
  Client client = client_in(a(), anywhere());
  const std::vector<std::byte> bytes = pattern(1'000'000);
  const Address peer = at("10.77.0.2:4000");
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(client.call(peer, bytes, CallOptions::within(kPatience)));
  EXPECT_GT(counter(client.stats(), "mtu_raised"), 0u);
  if (!drop_in(a(), "meta length gt 1500") || !drop_in(b(), "meta length gt 1500")) GTEST_SKIP() << "no nftables here";
  const auto before = Clock::now();
  const Result<Message> response = client.call(peer, bytes, CallOptions::within(kPatience));
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_TRUE(equal(response->view(), bytes));
  EXPECT_LT(Clock::now() - before, 10s);
  EXPECT_GT(counter(client.stats(), "mtu_black_holes"), 0u);
  const auto narrow = Clock::now();
  ASSERT_TRUE(client.call(peer, bytes, CallOptions::within(kPatience)));
  EXPECT_LT(Clock::now() - narrow, 5s) << "the size that was found is kept";
}

// Packets passed one way only, and the error said nothing of it.
TEST_F(StackField, field_18_a_firewall_in_one_direction_is_one_clear_error) {
  const Server server = serve_in(b(), everywhere());
  if (!drop_in(a(), "meta l4proto udp")) GTEST_SKIP() << "no nftables here";  // answers never arrive
  ClientOptions options = anywhere();
  options.peer_timeout = 1s;
  Client client = client_in(a(), options);
  for (const char* peer : {"10.77.0.2:4000", "[fd77::2]:4000"}) {
    const auto before = Clock::now();
    const Result<Message> response = client.call(at(peer), as_bytes("x"));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error(), ErrorCode::peer_unreachable);
    EXPECT_NE(response.error().message().find("firewall"), std::string::npos) << response.error().message();
    EXPECT_NE(response.error().message().find("packets, heard 0"), std::string::npos) << response.error().message();
    EXPECT_NE(response.error().message().find(peer), std::string::npos) << response.error().message();
    EXPECT_LT(Clock::now() - before, 10s);
  }
  EXPECT_GT(counter(client.stats(), "datagrams_sent"), 0u);
  EXPECT_EQ(counter(client.stats(), "datagrams_received"), 0u);
  EXPECT_GT(counter(server.stats(), "datagrams_received"), 0u);
}

// A reply from a link-local peer was dropped because its scope differed; without a scope nothing said so.
TEST_F(StackField, field_29_calls_between_link_local_addresses) {
  const Server server = serve_in(b(), everywhere());
  Client client = client_in(a(), anywhere());
  std::optional<Address> peer;
  a().run([&] { peer.emplace(at("[fe80::2%va]:4000")); });
  const std::vector<std::byte> bytes = pattern(300'000);
  const Result<Message> response = client.call(*peer, bytes, CallOptions::within(kPatience));
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_TRUE(equal(response->view(), bytes));
}

// A receiver that pauses for some milliseconds under the first windows of 32 clients, with the system's default buffer.
TEST_F(StackField, field_36_first_windows_of_32_clients_meet_a_paused_receiver) {
  ServerOptions options = everywhere();
  options.drive = Drive::caller;  // paused is what it is until it is driven
  options.receive_buffer = 208 * 1024;
  Server server = serve_in(b(), options);
  const std::vector<std::byte> bytes = pattern(options.unscheduled_bytes);
  std::vector<Client> clients;
  std::atomic<int> ended{0};
  std::atomic<int> failed{0};
  constexpr int kClients = 32;
  const auto call_from_all = [&](Bytes request) {
    const auto done = [&, size = request.size()](const Result<Message>& end) {
      failed += end && end->size() == size ? 0 : 1;
      ++ended;
    };
    for (Client& client : clients) {
      ASSERT_TRUE(client.call(at("10.77.0.2:4000"), request, CallOptions::within(kPatience), done));
    }
  };
  const auto drive_until = [&](int count) {
    while (ended < count) server.poll(10ms);  // calls have deadlines
  };
  for (int i = 0; i < kClients; ++i) clients.push_back(client_in(a(), anywhere()));
  call_from_all(as_bytes("hello"));  // a stranger's first window is not sent blindly
  drive_until(kClients);
  ASSERT_EQ(failed, 0);
  call_from_all(bytes);
  const auto sent = [&] {
    std::uint64_t packets = 0;
    for (const Client& client : clients) packets += counter(client.stats(), "data_sent");
    return packets;
  };
  const auto until = Clock::now() + kPatience;
  while (sent() < 1000 && Clock::now() < until) std::this_thread::yield();
  EXPECT_GE(sent(), 1000u) << "more than the buffer holds is on its way before the server wakes up";
  const auto awake = Clock::now();
  drive_until(2 * kClients);
  EXPECT_EQ(failed, 0);
  EXPECT_LT(Clock::now() - awake, 5s);
  EXPECT_GT(counter(server.stats(), "socket_queue_drops"), 0u) << "drops are noticed";
}

}  // namespace
}  // namespace homa
