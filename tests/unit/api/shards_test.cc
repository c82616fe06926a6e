// Several shards: one port and several sockets at the server, several ports at the client.
#include <set>

#include "support.h"

namespace homa {
namespace {

TEST(Shards, TwoServeOnePort) {
  ServerOptions options = server_options();
  options.shards = 2;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  Server server = start_server(options, [&](Request request) {
    {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    echo(std::move(request));
  });
  // Each client has a port of its own, and the kernel spreads first contacts by it: 16 on one shard is a chance of
  // 2^-15.
  for (std::uint64_t i = 0; i < 16; ++i) {
    Client client = open_client();
    for (std::uint64_t j = 0; j < 20; ++j) {
      const std::vector<std::byte> request = pattern(j * 3000, i * 100 + j);
      const Result<Message> response = client.call(server.address(), request, CallOptions::within(kPatience));
      ASSERT_TRUE(response) << i << ' ' << j << ": " << response.error().message();
      ASSERT_TRUE(equal(response->view(), request));
    }
  }
  EXPECT_EQ(threads.size(), 2u);
}

TEST(Shards, ClientsShareTheirCallsAmongShards) {
  Mailbox<Address> peers;
  Server server = start_server(server_options(), [&](Request request) {
    peers.put(request.peer());
    request.reply(as_bytes(""));
  });
  ClientOptions options = client_options();
  options.shards = 2;
  Client client = open_client(options);
  EXPECT_NE(client.local_address(0).port, client.local_address(1).port);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&] { EXPECT_TRUE(client.call(server.address(), as_bytes("x"), CallOptions::within(kPatience))); });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint16_t> ports;
  for (const Address& peer : peers.take(4)) ports.insert(peer.port);
  EXPECT_EQ(ports.size(), 2u);
}

TEST(Shards, ASecondServerAtThePortFailsLoudly) {
  for (const unsigned shards : {1u, 2u}) {
    ServerOptions options = server_options();
    options.shards = shards;
    Server first = start_server(options, echo);
    options.bind = first.address();
    const Result<Server> second = Server::start(options, echo);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error(), ErrorCode::address_in_use) << second.error().message();
  }
}

TEST(Shards, CountersAreSummed) {
  ServerOptions options = server_options();
  options.shards = 2;
  Server server = start_server(options, echo);
  Client client = open_client();
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(client.call(server.address(), as_bytes("x"), CallOptions::within(kPatience)));
  EXPECT_EQ(counter(server.stats(), "requests_delivered"), 10u);
  EXPECT_EQ(counter(client.stats(), "calls_succeeded"), 10u);
}

}  // namespace
}  // namespace homa
