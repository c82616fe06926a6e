#include "homa/options.h"

#include <gtest/gtest.h>

#include <functional>
#include <type_traits>

#include "homa/client.h"
#include "homa/server.h"

namespace homa {
namespace {

static_assert(!std::is_default_constructible_v<Security>, "how to protect traffic is a choice that must be written");
static_assert(!std::is_default_constructible_v<ClientOptions>);
static_assert(!std::is_default_constructible_v<ServerOptions>);

TEST(PriorityMap, LeavesNetworkControlAlone) {
  for (const std::uint8_t dscp : PriorityMap().dscp) {
    EXPECT_NE(dscp, 48) << "CS6";
    EXPECT_NE(dscp, 56) << "CS7";
  }
}

TEST(Options, WrongOnesAreNamed) {
  struct Case {
    const char* named;
    std::function<void(ServerOptions&)> spoil;
  };
  const Case cases[] = {
      {"shards", [](ServerOptions& o) { o.shards = 0; }},
      {"shards", [](ServerOptions& o) { o.shards = 1000; }},
      {"shards", [](ServerOptions& o) { o.drive = Drive::caller, o.shards = 2; }},
      {"levels", [](ServerOptions& o) { o.priorities.levels = 3; }},
      {"dscp", [](ServerOptions& o) { o.priorities.dscp[3] = 64; }},
      {"receive_buffer", [](ServerOptions& o) { o.receive_buffer = 0; }},
      {"max_datagram", [](ServerOptions& o) { o.max_datagram = 100; }},
      {"max_message_length", [](ServerOptions& o) { o.max_message_length = 0; }},
      {"receive_memory", [](ServerOptions& o) { o.receive_memory = 1000; }},
      {"send_memory", [](ServerOptions& o) { o.send_memory = 1000; }},
      {"slots", [](ServerOptions& o) { o.slots = 0; }},
      {"cores", [](ServerOptions& o) { o.cores = {-1}; }},
      {"peer_timeout", [](ServerOptions& o) { o.peer_timeout = 0s; }},
  };
  for (const Case& wrong : cases) {
    ServerOptions options(Security::clear());
    wrong.spoil(options);
    const Result<Server> server = Server::start(options, [](Request) {});
    ASSERT_FALSE(server) << wrong.named;
    EXPECT_EQ(server.error(), ErrorCode::bad_option);
    EXPECT_NE(server.error().message().find(wrong.named), std::string::npos) << server.error().message();
  }
}

TEST(CallOptions, WithinCountsFromNow) {
  const auto before = Clock::now();
  const CallOptions options = CallOptions::within(1s);
  EXPECT_GE(options.deadline, before + 1s);
  EXPECT_LE(options.deadline, Clock::now() + 1s);
}

}  // namespace
}  // namespace homa
