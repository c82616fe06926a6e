// Messages of every size at which something changes: packets, segments, windows, system limits.
#include "support.h"

namespace homa {
namespace {

constexpr std::size_t kSizes[] = {0,     1,     1231,  1232,    1233,          1400,    1430,          1451,
                                  1452,  1453,  2903,  2904,    2905,          65506,   65507,         65508,
                                  65535, 65536, 65537, 1 << 18, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 10'000'000};

class Boundary : public ::testing::TestWithParam<bool> {
 protected:
  Address bind() const { return GetParam() ? loopback_v6() : loopback_v4(); }
};

TEST_P(Boundary, EchoOfEverySize) {
  Server server = start_server(server_options(bind()), echo);
  Client client = open_client(client_options(bind()));
  for (const std::size_t size : kSizes) {
    const std::vector<std::byte> request = pattern(size, size);
    const Result<Message> response = client.call(server.address(), request, CallOptions::within(kPatience));
    ASSERT_TRUE(response) << size << ": " << response.error().message();
    EXPECT_TRUE(equal(response->view(), request)) << size;
  }
}

TEST_P(Boundary, SizesOfRequestAndResponseAreIndependent) {
  Server server = start_server(server_options(bind()), [](Request request) {
    std::uint32_t size = 0;
    std::memcpy(&size, request.message().data(), sizeof(size));
    request.reply(pattern(size, size));
  });
  Client client = open_client(client_options(bind()));
  for (const std::uint32_t size : {0u, 1u, 1452u, 65536u, 1'000'000u}) {
    const Bytes request = std::as_bytes(std::span(&size, 1));
    const Result<Message> response = client.call(server.address(), request, CallOptions::within(kPatience));
    ASSERT_TRUE(response) << size << ": " << response.error().message();
    EXPECT_TRUE(equal(response->view(), pattern(size, size))) << size;
  }
}

TEST_P(Boundary, GatheredPiecesArriveAsOneMessage) {
  Server server = start_server(server_options(bind()), echo);
  Client client = open_client(client_options(bind()));
  const std::vector<std::byte> whole = pattern(200'000);
  std::vector<Bytes> pieces;
  for (std::size_t at = 0, length = 0; at < whole.size(); at += length, length = (length * 7 + 1) % 5000) {
    length = std::min(length, whole.size() - at);
    pieces.push_back(Bytes(whole).subspan(at, length));
  }
  const Result<Message> response = client.call(server.address(), pieces, CallOptions::within(kPatience));
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_TRUE(equal(response->view(), whole));
}

INSTANTIATE_TEST_SUITE_P(Families, Boundary, ::testing::Bool(),
                         [](const auto& param) { return param.param ? "IPv6" : "IPv4"; });

}  // namespace
}  // namespace homa
