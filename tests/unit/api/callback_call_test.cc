// The callback form: many calls under way at once, calls from callbacks, memory given back.
#include <atomic>

#include "support.h"

namespace homa {
namespace {

TEST(CallbackCall, ManyAtOnceEachEndsOnce) {
  Server server = start_server(server_options(), echo);
  Client client = open_client();
  constexpr int kCalls = 2000;
  std::vector<std::atomic<int>> ends(kCalls);
  Tally tally;
  for (int i = 0; i < kCalls; ++i) {
    const std::vector<std::byte> request = pattern(static_cast<std::size_t>(i), static_cast<std::uint64_t>(i));
    const Result<CallToken> token = client.call(server.address(), request, {}, [&, i](Result<Message> response) {
      const auto index = static_cast<std::size_t>(i);
      EXPECT_TRUE(response) << response.error().message();
      if (response) {
        EXPECT_TRUE(equal(response->view(), pattern(index, index)));
      }
      ++ends[index];
      tally.add();
    });
    ASSERT_TRUE(token) << token.error().message();
  }
  EXPECT_TRUE(tally.reach(kCalls));
  client.close();
  for (const std::atomic<int>& count : ends) EXPECT_EQ(count, 1);
}

TEST(CallbackCall, ACallbackMayStartTheNextCall) {
  Server server = start_server(server_options(), echo);
  Client client = open_client();
  constexpr int kRounds = 1000;
  Tally tally;
  std::function<void(Result<Message>)> next = [&](Result<Message> response) {
    ASSERT_TRUE(response) << response.error().message();
    tally.add();
    if (tally.count() < kRounds) {
      ASSERT_TRUE(client.call(server.address(), response->view(), {}, next));
    }
  };
  ASSERT_TRUE(client.call(server.address(), as_bytes("ball"), {}, next));
  EXPECT_TRUE(tally.reach(kRounds));
}

TEST(CallbackCall, ABlockingCallFromACallbackIsRefusedInsteadOfHanging) {
  Server server = start_server(server_options(), echo);
  Client client = open_client();
  Mailbox<ErrorCode> codes;
  ASSERT_TRUE(client.call(server.address(), as_bytes("x"), {}, [&](Result<Message>) {
    const Result<Message> inner = client.call(server.address(), as_bytes("y"));
    codes.put(inner ? ErrorCode::system_error : inner.error().code());
  }));
  EXPECT_EQ(codes.take(1).at(0), ErrorCode::would_block);
}

TEST(CallbackCall, GatheredMemoryIsGivenBackOnce) {
  Server server = start_server(server_options(), echo);
  Client client = open_client();
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{300'000}}) {
    const std::vector<std::byte> memory = pattern(size);
    const Bytes piece = memory;
    Tally released;
    Tally ended;
    ASSERT_TRUE(
        client.call(server.address(), Gather{{&piece, 1}, [&] { released.add(); }}, {}, [&](Result<Message> response) {
          EXPECT_TRUE(response && equal(response->view(), memory));
          ended.add();
        }));
    EXPECT_TRUE(ended.reach(1));
    EXPECT_TRUE(released.reach(1)) << size;
    EXPECT_EQ(released.count(), 1);
  }
}

TEST(CallbackCall, SeveralThreadsShareAClient) {
  Server server = start_server(server_options(), echo);
  Client client = open_client();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 200; ++i) {
        const std::vector<std::byte> request = pattern(i * 20, t * 1000 + i);
        const Result<Message> response = client.call(server.address(), request, CallOptions::within(kPatience));
        ASSERT_TRUE(response) << response.error().message();
        ASSERT_TRUE(equal(response->view(), request));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace homa
