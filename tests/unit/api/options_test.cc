#include "homa/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
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

int cures_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), ';'));
}

TEST(Options, ATakenPortHasOneCauseAndOneCure) {
  ServerOptions options(Security::clear());
  options.bind = *parse_address("127.0.0.1:0");
  const Result<Server> first = Server::start(options, [](Request) {});
  ASSERT_TRUE(first);
  options.bind = first->address();
  const Result<Server> second = Server::start(options, [](Request) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), ErrorCode::address_in_use);
  const std::string text = second.error().message();
  EXPECT_NE(text.find("bind " + to_string(options.bind)), std::string::npos) << text;
  EXPECT_EQ(cures_in(text), 1) << text;
}

TEST(Options, AnAddressOfAnotherHostIsAnAddressThatCannotBeUsed) {
  ServerOptions options(Security::clear());
  options.bind = *parse_address("192.0.2.1:0");  // TEST-NET-1: nobody's
  const Result<Server> server = Server::start(options, [](Request) {});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error(), ErrorCode::no_address);
  const std::string text = server.error().message();
  EXPECT_NE(text.find("bind 192.0.2.1:0"), std::string::npos) << text;
  EXPECT_EQ(text.find("option"), std::string::npos) << text;
  EXPECT_EQ(cures_in(text), 1) << text;
}

TEST(Options, AnAddressOfManyHostsCannotBeListenedAt) {
  for (const char* text : {"224.0.0.1:0", "255.255.255.255:0", "[ff02::1]:0"}) {
    ServerOptions options(Security::clear());
    options.bind = *parse_address(text);
    const Result<Server> server = Server::start(options, [](Request) {});
    ASSERT_FALSE(server) << text;
    EXPECT_EQ(server.error(), ErrorCode::no_address);
    EXPECT_NE(server.error().message().find(text), std::string::npos) << server.error().message();
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
