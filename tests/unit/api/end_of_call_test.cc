// Every way in which a call can end, and that it always ends.
#include "support.h"

namespace homa {
namespace {

TEST(EndOfCall, DeadlinePasses) {
  Mailbox<Request> held;
  Server server = start_server(server_options(), [&](Request request) { held.put(std::move(request)); });
  Client client = open_client();
  const auto before = Clock::now();
  const Result<Message> response = client.call(server.address(), as_bytes("x"), CallOptions::within(30ms));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error(), ErrorCode::deadline_exceeded);
  EXPECT_GE(Clock::now() - before, 29ms);
  EXPECT_LT(Clock::now() - before, 2s);
}

TEST(EndOfCall, ADeadlineInThePast) {
  Server server = start_server(server_options(), echo);
  Client client = open_client();
  const Result<Message> response = client.call(server.address(), as_bytes("x"), CallOptions::within(-1ms));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error(), ErrorCode::deadline_exceeded);
}

TEST(EndOfCall, OthersGoOnAfterOneHasExpired) {
  Mailbox<Request> held;
  Server server = start_server(server_options(), [&](Request request) {
    if (request.message().text() == "slow") {
      held.put(std::move(request));
    } else {
      request.reply(as_bytes("quick"));
    }
  });
  Client client = open_client();
  // First contact made, so that the request leaves at once and arrives however slow the machine is.
  ASSERT_TRUE(client.call(server.address(), as_bytes("x"), CallOptions::within(kPatience)));
  ASSERT_FALSE(client.call(server.address(), as_bytes("slow"), CallOptions::within(10ms)));
  std::vector<Request> late = held.take(1);
  ASSERT_EQ(late.size(), 1u);
  late[0].reply(as_bytes("too late"));
  for (int i = 0; i < 50; ++i) {
    const Result<Message> response = client.call(server.address(), as_bytes("x"), CallOptions::within(kPatience));
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text(), "quick");
  }
}

TEST(EndOfCall, CancelledByTheCaller) {
  Mailbox<Request> held;
  Server server = start_server(server_options(), [&](Request request) { held.put(std::move(request)); });
  Client client = open_client();
  Mailbox<Result<Message>> ends;
  const Result<CallToken> token =
      client.call(server.address(), as_bytes("x"), {}, [&](Result<Message> end) { ends.put(std::move(end)); });
  ASSERT_TRUE(token);
  std::vector<Request> running = held.take(1);
  client.cancel(*token);
  const std::vector<Result<Message>> end = ends.take(1);
  ASSERT_EQ(end.size(), 1u);
  ASSERT_FALSE(end[0]);
  EXPECT_EQ(end[0].error(), ErrorCode::cancelled);
  client.cancel(*token);  // a stale token does no harm
  // The handler learns of it.
  const auto until = Clock::now() + kPatience;
  while (!running.at(0).cancelled() && Clock::now() < until) std::this_thread::yield();
  EXPECT_TRUE(running[0].cancelled());
}

TEST(EndOfCall, ADroppedRequestIsRefused) {
  Server server = start_server(server_options(), [](Request) {});
  Client client = open_client();
  const Result<Message> response = client.call(server.address(), as_bytes("x"), CallOptions::within(kPatience));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error(), ErrorCode::refused);
}

TEST(EndOfCall, RefusedWithAReason) {
  Server server = start_server(server_options(), [](Request request) { request.refuse(RefuseReason::no_handler); });
  Client client = open_client();
  const Result<Message> response = client.call(server.address(), as_bytes("x"), CallOptions::within(kPatience));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error(), ErrorCode::no_handler);
}

TEST(EndOfCall, TooLongForUsIsToldAtOnce) {
  Server server = start_server(server_options(), echo);
  ClientOptions options = client_options();
  options.max_message_length = 1000;
  Client client = open_client(options);
  EXPECT_EQ(client.max_message_length(), 1000u);
  EXPECT_TRUE(client.call(server.address(), pattern(1000), CallOptions::within(kPatience)));
  const Result<Message> blocking = client.call(server.address(), pattern(1001));
  ASSERT_FALSE(blocking);
  EXPECT_EQ(blocking.error(), ErrorCode::too_long);
  const Result<CallToken> callback = client.call(server.address(), pattern(1001), {}, [](Result<Message>) { FAIL(); });
  ASSERT_FALSE(callback);
  EXPECT_EQ(callback.error(), ErrorCode::too_long);
}

TEST(EndOfCall, TooLongForTheServer) {
  ServerOptions options = server_options();
  options.max_message_length = 1000;
  Server server = start_server(options, echo);
  Client client = open_client();
  ASSERT_TRUE(client.call(server.address(), pattern(1000), CallOptions::within(kPatience)));
  const Result<Message> response = client.call(server.address(), pattern(1001), CallOptions::within(kPatience));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error(), ErrorCode::too_long);
}

TEST(EndOfCall, AnAddressThatNamesNoPeerIsRefusedAtOnce) {
  Client client = open_client(client_options(loopback_v6()));
  for (const char* text : {"127.0.0.1:0", "224.0.0.1:1", "239.255.255.255:1", "255.255.255.255:1", "0.0.0.0:1",
                           "[::]:1", "[ff02::1]:1", "*:1"}) {
    const Address peer = *parse_address(text);
    const Result<Message> blocking = client.call(peer, as_bytes("x"));
    ASSERT_FALSE(blocking);
    EXPECT_EQ(blocking.error(), ErrorCode::no_address) << text;
    const Result<CallToken> callback = client.call(peer, as_bytes("x"), {}, [](Result<Message>) { FAIL(); });
    ASSERT_FALSE(callback);
    EXPECT_EQ(callback.error(), ErrorCode::no_address) << text;
    EXPECT_NE(callback.error().message().find(to_string(peer)), std::string::npos) << callback.error().message();
  }
}

TEST(EndOfCall, ErrorsGivenToCallbacksNameThePeer) {
  Server server = start_server(server_options(), [](Request) {});
  Client client = open_client();
  Mailbox<std::string> texts;
  ASSERT_TRUE(client.call(server.address(), as_bytes("x"), {}, [&](Result<Message> end) {
    EXPECT_EQ(end.error(), ErrorCode::refused);
    texts.put(end.error().message());
  }));
  std::vector<std::string> all = texts.take(1);
  const std::string name = to_string(server.address());
  const Address address = server.address();
  server.stop();
  ASSERT_TRUE(client.send_one_way(address, as_bytes("x"), CallOptions::within(kPatience),
                                  [&](Result<void> end) { texts.put(end.error().message()); }));
  for (std::string& text : texts.take(1)) all.push_back(std::move(text));
  EXPECT_EQ(all.size(), 2u);
  for (const std::string& text : all) EXPECT_NE(text.find(name), std::string::npos) << text;
}

TEST(EndOfCall, ServerStopsWithCallsInFlight) {
  Mailbox<Request> held;
  Server server = start_server(server_options(), [&](Request request) { held.put(std::move(request)); });
  Client client = open_client();
  constexpr int kCalls = 50;
  Mailbox<Result<Message>> ends;
  for (int i = 0; i < kCalls; ++i) {
    ASSERT_TRUE(
        client.call(server.address(), pattern(2000), {}, [&](Result<Message> end) { ends.put(std::move(end)); }));
  }
  std::vector<Request> running = held.take(kCalls);
  server.stop();
  for (const Result<Message>& end : ends.take(kCalls)) {
    ASSERT_FALSE(end);
    EXPECT_TRUE(end.error() == ErrorCode::peer_closed || end.error() == ErrorCode::outcome_unknown)
        << end.error().message();
  }
  // Requests outlive the server; their answers go nowhere and their memory comes back.
  Tally released;
  for (Request& request : running) {
    EXPECT_TRUE(request.cancelled());
    EXPECT_EQ(request.message().size(), 2000u);
    const Bytes nothing;
    request.reply(Gather{{&nothing, 1}, [&] { released.add(); }});
  }
  EXPECT_EQ(released.count(), kCalls);
}

TEST(EndOfCall, ClientClosesWithCallsUnderWay) {
  Mailbox<Request> held;
  Server server = start_server(server_options(), [&](Request request) { held.put(std::move(request)); });
  Client client = open_client();
  Mailbox<Result<Message>> ends;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(
        client.call(server.address(), as_bytes("x"), {}, [&](Result<Message> end) { ends.put(std::move(end)); }));
  }
  std::vector<Request> running = held.take(20);
  client.close();
  for (const Result<Message>& end : ends.take(20, 0s)) {
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error(), ErrorCode::shut_down);
  }
  const Result<Message> after = client.call(server.address(), as_bytes("x"));
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error(), ErrorCode::shut_down);
  const auto until = Clock::now() + kPatience;
  while (!running.back().cancelled() && Clock::now() < until) std::this_thread::yield();
  EXPECT_TRUE(running.back().cancelled()) << "the server learns that its caller is gone";
}

}  // namespace
}  // namespace homa
