// What a handler can do with a request.
#include "support.h"

namespace homa {
namespace {

TEST(Request, AnsweredLaterByOtherThreads) {
  Mailbox<Request> work;
  Server server = start_server(server_options(), [&](Request request) { work.put(std::move(request)); });
  constexpr int kCalls = 400;
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      for (int i = 0; i < kCalls / 4; ++i) {
        std::optional<Request> request = work.take_one();
        ASSERT_TRUE(request);
        request->reply(std::move(request->message()));
      }
    });
  }
  Client client = open_client();
  Tally ended;
  for (int i = 0; i < kCalls; ++i) {
    const auto size = static_cast<std::size_t>(i * 37);
    ASSERT_TRUE(client.call(server.address(), pattern(size), {}, [&, size](Result<Message> response) {
      EXPECT_TRUE(response && equal(response->view(), pattern(size)));
      ended.add();
    }));
  }
  EXPECT_TRUE(ended.reach(kCalls));
  for (std::thread& worker : workers) worker.join();
}

TEST(Request, TellsWhoAsksAndUntilWhen) {
  Mailbox<Address> peers;
  Mailbox<Clock::time_point> deadlines;
  Server server = start_server(server_options(), [&](Request request) {
    peers.put(request.peer());
    deadlines.put(request.deadline());
    EXPECT_EQ(request.message_class(), 7);
    EXPECT_TRUE(request.is_idempotent());
    EXPECT_FALSE(request.is_one_way());
    EXPECT_FALSE(request.cancelled());
    request.reply(as_bytes(""));
  });
  Client client = open_client();
  CallOptions options = CallOptions::within(10s);
  options.message_class = 7;
  options.idempotent = true;
  ASSERT_TRUE(client.call(server.address(), as_bytes("x"), options));
  EXPECT_EQ(peers.take(1).at(0), client.local_address());
  const Clock::time_point seen = deadlines.take(1).at(0);
  EXPECT_LT(seen, options.deadline + 1s);
  EXPECT_GT(seen, options.deadline - 1s);
  ASSERT_TRUE(client.call(server.address(), as_bytes("x"), {Clock::time_point::max(), 7, true}));
  EXPECT_EQ(deadlines.take(1).at(0), Clock::time_point::max());
}

TEST(Request, GatheredAnswerIsGivenBack) {
  const std::vector<std::byte> memory = pattern(100'000);
  const Bytes pieces[] = {Bytes(memory).first(1), Bytes(memory).subspan(1, 70'000), Bytes(memory).subspan(70'001)};
  Tally released;
  Server server = start_server(server_options(), [&](Request request) {
    request.reply(Gather{pieces, [&] { released.add(); }});
  });
  Client client = open_client();
  const Result<Message> response = client.call(server.address(), as_bytes("x"), CallOptions::within(kPatience));
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_TRUE(equal(response->view(), memory));
  EXPECT_TRUE(released.reach(1));
  EXPECT_EQ(released.count(), 1);
}

TEST(Request, ASecondAnswerDoesNothing) {
  Tally released;
  Server server = start_server(server_options(), [&](Request request) {
    request.reply(as_bytes("first"));
    const Bytes second = as_bytes("second");
    request.reply(Gather{{&second, 1}, [&] { released.add(); }});
    request.refuse();
  });
  Client client = open_client();
  for (int i = 0; i < 3; ++i) {
    const Result<Message> response = client.call(server.address(), as_bytes("x"), CallOptions::within(kPatience));
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text(), "first");
  }
  EXPECT_EQ(released.count(), 3);
}

TEST(Request, MessagesOutliveTheirClient) {
  Server server = start_server(server_options(), echo);
  Message kept;
  {
    Client client = open_client();
    Result<Message> response = client.call(server.address(), pattern(5000), CallOptions::within(kPatience));
    ASSERT_TRUE(response) << response.error().message();
    kept = std::move(*response);
  }
  EXPECT_TRUE(equal(kept.view(), pattern(5000)));
}

}  // namespace
}  // namespace homa
