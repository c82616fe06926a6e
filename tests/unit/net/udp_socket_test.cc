// Opening: families, what is refused and how it is said, what the socket says about itself.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"

namespace homa::net::test {
namespace {

TEST(Open, the_kernel_chooses_the_port_and_local_address_tells) {
  UdpSocket socket = must_open({kLoopback4, 0});
  EXPECT_EQ(socket.local_address().host, kLoopback4);
  EXPECT_NE(socket.local_address().port, 0);
}

TEST(Open, wildcard_ipv6_takes_both_unless_told) {
  if (!have_ipv6()) GTEST_SKIP() << "no IPv6 on loopback";
  UdpSocket both = must_open({kAny6, 0});
  EXPECT_TRUE(both.capabilities().dual_stack);
  UdpOptions only;
  only.v6_only = true;
  UdpSocket one = must_open({kAny6, 0}, only);
  EXPECT_FALSE(one.capabilities().dual_stack);
  const auto bytes = pattern(10);
  UdpSocket client = must_open({kLoopback4, 0});
  ASSERT_EQ(client.send_train(view(bytes), 10, {kLoopback4, both.local_address().port}).sent, 1u);
  EXPECT_EQ(receive_all(both, 1).size(), 1u);
  const SendResult result = one.send_train(view(bytes), 10, client.local_address());
  EXPECT_EQ(result.status, SendStatus::unreachable);
}

TEST(Open, field_29_link_local_without_scope_is_refused_early) {
  HostAddress host;
  host.ip[0] = 0xfe;
  host.ip[1] = 0x80;
  host.ip[15] = 1;
  const auto socket = UdpSocket::open({host, 0});
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().kind, NetErrorKind::scope_missing);
  EXPECT_NE(socket.error().describe().find("fe80::1%eth0"), std::string::npos);
}

TEST(Open, errors_name_cause_and_cure) {
  UdpSocket first = must_open({kLoopback4, 0});
  const auto taken = UdpSocket::open(first.local_address());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, NetErrorKind::address_in_use);
  EXPECT_NE(taken.error().describe().find(std::to_string(first.local_address().port)), std::string::npos);
  const auto foreign = UdpSocket::open({HostAddress::v4(192, 0, 2, 1), 0});
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().kind, NetErrorKind::address_not_local);
  EXPECT_FALSE(foreign.error().cure.empty());
}

TEST(Open, running_out_of_descriptors_is_an_error_and_leaks_none) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  const int probe = dup(0);
  ASSERT_GE(probe, 0);
  close(probe);
  const rlimit tight{static_cast<rlim_t>(probe), old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  const auto socket = UdpSocket::open({kLoopback4, 0});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().kind, NetErrorKind::no_descriptors);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(UdpSocket::open({HostAddress::v4(192, 0, 2, 1), 0}));
  const int again = dup(0);
  EXPECT_EQ(again, probe);
  close(again);
}

TEST(Move, leaves_the_source_without_a_descriptor) {
  UdpSocket first = must_open({kLoopback4, 0});
  const int fd = first.fd();
  UdpSocket second = std::move(first);
  EXPECT_EQ(second.fd(), fd);
  EXPECT_EQ(first.fd(), -1);  // NOLINT(bugprone-use-after-move): that is the question
  second = must_open({kLoopback4, 0});
  EXPECT_NE(second.fd(), -1);
}

TEST(Capabilities, are_printable) {
  const std::string text = must_open({kLoopback4, 0}).capabilities().to_text();
  for (const char* word : {"GSO", "GRO", "packet info", "drop counter", "receive buffer", "MTU"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
}

TEST(Buffers, report_what_the_kernel_gave) {
  UdpOptions options;
  options.receive_buffer = 100000;
  UdpSocket socket = must_open({kLoopback4, 0}, options);
  EXPECT_EQ(socket.buffer_sizes().receive.asked, 200000u);
  EXPECT_EQ(socket.buffer_sizes().receive.effective, 200000u);
  EXPECT_EQ(buffer_advice(socket.buffer_sizes()), "");
}

TEST(Buffers, advice_names_the_sysctl_and_the_value) {
  BufferSizes sizes;
  sizes.receive = {16 << 20, 425984, 212992};
  sizes.send = {100, 200, 0};
  const std::string text = buffer_advice(sizes);
  EXPECT_NE(text.find("sysctl -w net.core.rmem_max=8388608"), std::string::npos) << text;
  EXPECT_EQ(text.find("wmem_max"), std::string::npos) << text;
}

TEST(Backlog, is_empty_when_all_has_left) {
  EXPECT_EQ(must_open({kLoopback4, 0}).backlog_bytes(), 0u);
}

}  // namespace
}  // namespace homa::net::test
