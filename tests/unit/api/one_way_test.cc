// One-way messages: delivered whole, acknowledged when the peer's application has them, no answer.
#include "support.h"

namespace homa {
namespace {

TEST(OneWay, ArrivesWholeAndEnds) {
  Mailbox<Request> arrived;
  Server server = start_server(server_options(), [&](Request request) { arrived.put(std::move(request)); });
  Client client = open_client();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{2000}, std::size_t{1} << 20}) {
    const std::vector<std::byte> message = pattern(size);
    const Result<void> sent = client.send_one_way(server.address(), message, CallOptions::within(kPatience));
    ASSERT_TRUE(sent) << sent.error().message();
    std::vector<Request> got = arrived.take(1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(got[0].is_one_way());
    EXPECT_TRUE(equal(got[0].message().view(), message));
    got[0].reply(as_bytes("ignored"));
  }
}

TEST(OneWay, ManyByCallback) {
  Tally arrived;
  Server server = start_server(server_options(), [&](Request request) {
    EXPECT_TRUE(request.is_one_way());
    EXPECT_EQ(request.message_class(), 3);
    arrived.add();
  });
  Client client = open_client();
  Tally ended;
  CallOptions options = CallOptions::within(kPatience);
  options.message_class = 3;
  for (int i = 0; i < 1000; ++i) {
    const Result<CallToken> token =
        client.send_one_way(server.address(), pattern(static_cast<std::size_t>(i)), options, [&](Result<void> end) {
          EXPECT_TRUE(end) << end.error().message();
          ended.add();
        });
    ASSERT_TRUE(token) << token.error().message();
  }
  EXPECT_TRUE(ended.reach(1000));
  EXPECT_TRUE(arrived.reach(1000));
  EXPECT_EQ(arrived.count(), 1000);
}

}  // namespace
}  // namespace homa
