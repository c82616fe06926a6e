// No threads of the library: the application's thread drives.
#include <poll.h>

#include <atomic>
#include <thread>

#include "support.h"

namespace homa {
namespace {

ClientOptions driven_client(WaitMode wait = WaitMode::block) {
  ClientOptions options = client_options();
  options.drive = Drive::caller;
  options.wait = wait;
  return options;
}

ServerOptions driven_server() {
  ServerOptions options = server_options();
  options.drive = Drive::caller;
  return options;
}

TEST(CallerDriven, ABlockingCallDrivesItself) {
  Server server = start_server(server_options(), echo);
  for (const WaitMode wait : {WaitMode::block, WaitMode::adaptive, WaitMode::busy_poll}) {
    Client client = open_client(driven_client(wait));
    for (const std::size_t size : {0u, 10u, 5000u, 1'000'000u}) {
      const std::vector<std::byte> request = pattern(size);
      const Result<Message> response = client.call(server.address(), request, CallOptions::within(kPatience));
      ASSERT_TRUE(response) << response.error().message();
      EXPECT_TRUE(equal(response->view(), request));
    }
  }
}

TEST(CallerDriven, ClientAndServerInOneThread) {
  Server server = start_server(driven_server(), echo);
  Client client = open_client(driven_client());
  bool ended = false;
  ASSERT_TRUE(
      client.call(server.address(), as_bytes("ping"), CallOptions::within(kPatience), [&](Result<Message> response) {
        EXPECT_TRUE(response && response->text() == "ping");
        ended = true;
      }));
  while (!ended) {
    client.poll(Duration::zero());
    server.poll(Duration::zero());
  }
}

TEST(CallerDriven, PollWaitsUpToItsTimeout) {
  Client client = open_client(driven_client());
  const auto before = Clock::now();
  EXPECT_FALSE(client.poll(3ms));
  EXPECT_GE(Clock::now() - before, 3ms);
  EXPECT_FALSE(client.poll(Duration::zero()));
}

TEST(CallerDriven, RunServesUntilStopped) {
  Server server = start_server(driven_server(), echo);
  std::thread thread([&] { server.run(); });
  {
    Client client = open_client();
    const Result<Message> response = client.call(server.address(), as_bytes("x"), CallOptions::within(kPatience));
    EXPECT_TRUE(response);
  }
  server.stop();
  thread.join();
}

TEST(CallerDriven, AHandlerMayStopTheServer) {
  Server* stopping = nullptr;
  Server server = start_server(driven_server(), [&](Request request) {
    request.reply(as_bytes("bye"));
    stopping->stop();
  });
  stopping = &server;
  std::thread thread([&] { server.run(); });
  Client client = open_client();
  static_cast<void>(client.call(server.address(), as_bytes("x"), CallOptions::within(kPatience)));
  thread.join();
}

// The application's own loop: it sleeps on the descriptors only, so a descriptor that forgets something hangs the test.
TEST(CallerDriven, DescriptorsTellWhenToPoll) {
  Mailbox<Request> later;
  Server server = start_server(driven_server(), [&](Request request) { later.put(std::move(request)); });
  std::thread answerer([&] {
    for (int i = 0; i < 20; ++i) {
      for (Request& request : later.take(1)) request.reply(std::move(request.message()));
    }
  });
  Client client = open_client(driven_client());
  ASSERT_GE(client.fd(), 0);
  ASSERT_GE(server.fd(), 0);
  for (int i = 0; i < 20; ++i) {
    bool ended = false;
    const std::vector<std::byte> request = pattern(static_cast<std::size_t>(i) * 10'000);
    ASSERT_TRUE(client.call(server.address(), request, CallOptions::within(kPatience), [&](Result<Message> response) {
      EXPECT_TRUE(response && equal(response->view(), request));
      ended = true;
    }));
    while (!ended) {
      pollfd descriptors[2] = {{client.fd(), POLLIN, 0}, {server.fd(), POLLIN, 0}};
      ASSERT_GT(poll(descriptors, 2, 20'000), 0);
      if (descriptors[0].revents != 0) client.poll(Duration::zero());
      if (descriptors[1].revents != 0) server.poll(Duration::zero());
    }
  }
  answerer.join();
}

TEST(CallerDriven, AnIdleDescriptorStaysQuiet) {
  Client client = open_client(driven_client());
  while (client.poll(Duration::zero())) {
  }
  pollfd descriptor{client.fd(), POLLIN, 0};
  while (poll(&descriptor, 1, 0) > 0) client.poll(Duration::zero());
  EXPECT_EQ(poll(&descriptor, 1, 50), 0);
}

}  // namespace
}  // namespace homa
