// Errors of a send: what the network reported earlier, and what the kernel refuses now.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <thread>

#include "support.h"

namespace homa::net::test {
namespace {

/// A port where nobody listens: privileged (tcpmux), so that no test running beside this one gets it.
Address dead_port(const HostAddress& host) {
  return {host, 1};
}

class PendingErrors : public testing::TestWithParam<std::pair<HostAddress, HostAddress>> {
 protected:
  void SetUp() override {
    if (GetParam().first == kAny6 && !have_ipv6()) GTEST_SKIP() << "no IPv6 on loopback";
  }
};

TEST_P(PendingErrors, field_04_dead_peer_is_told_from_back_pressure) {
  UdpSocket socket = must_open({GetParam().first, 0});
  const Address dead = dead_port(GetParam().second);
  const auto bytes = pattern(3000);
  for (int i = 0; i < 5; ++i) {
    const SendResult result = socket.send_train(view(bytes), 1000, dead);
    EXPECT_EQ(result.status, SendStatus::sent);
  }
  ASSERT_TRUE(wait_for(socket.fd(), POLLERR));
  PeerError errors[4];
  ASSERT_EQ(socket.read_errors(errors, 4), 4u);  // bounded
  for (const PeerError& error : errors) {
    EXPECT_EQ(error.peer, dead);
    EXPECT_EQ(error.kind, PeerError::Kind::port_unreachable);
    EXPECT_EQ(error.error, ECONNREFUSED);
    EXPECT_FALSE(error.local);
  }
  while (socket.read_errors(errors, 4) == 4) {
  }
  EXPECT_EQ(socket.read_errors(errors, 4), 0u);
}

TEST_P(PendingErrors, do_not_eat_a_send_to_somebody_else) {
  UdpSocket socket = must_open({GetParam().first, 0});
  UdpSocket alive = must_open({GetParam().second, 0});
  const Address dead = dead_port(GetParam().second);
  const auto bytes = pattern(4000);
  std::size_t wanted = 0;
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(socket.send_train(view(bytes), 1000, dead).status, SendStatus::sent);
    ASSERT_EQ(socket.send_train(view(bytes), 1000, alive.local_address()).sent, 4u);
    const Outgoing both[] = {{view(bytes), dead, {}, 0}, {view(bytes), alive.local_address(), {}, 0}};
    ASSERT_EQ(socket.send_batch(both, 2).sent, 2u);
    wanted += 5;
  }
  EXPECT_EQ(receive_all(alive, wanted).size(), wanted);
  EXPECT_TRUE(drain(alive).empty());
  EXPECT_GT(socket.counters().pending_errors, 0u);
}

TEST_P(PendingErrors, do_not_eat_a_receive) {
  UdpSocket socket = must_open({GetParam().first, 0});
  UdpSocket friend_socket = must_open({GetParam().second, 0});
  const auto bytes = pattern(100);
  ASSERT_EQ(friend_socket.send_train(view(bytes), 100, {GetParam().second, socket.local_address().port}).sent, 1u);
  ASSERT_EQ(socket.send_train(view(bytes), 100, dead_port(GetParam().second)).sent, 1u);
  ASSERT_TRUE(wait_for(socket.fd(), POLLERR));
  ReceiveBatch batch;
  EXPECT_EQ(socket.receive(batch), ReceiveStatus::received);
  EXPECT_EQ(batch.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Families, PendingErrors,
                         testing::Values(std::pair{kAny4, kLoopback4}, std::pair{kAny6, kLoopback6},
                                         std::pair{kAny6, kLoopback4}),
                         [](const auto& param_info) {
                           return param_info.param.first.is_v4()    ? "v4"
                                  : param_info.param.second.is_v4() ? "v4_from_dual_stack"
                                                                    : "v6";
                         });

TEST(BadAddress, is_an_error_of_this_send_only) {
  UdpSocket socket = must_open({kLoopback4, 0});
  UdpSocket peer = must_open({kLoopback4, 0});
  const auto bytes = pattern(4000);
  const auto send = [&](const Address& to, const HostAddress& from) {
    return socket.send_train(view(bytes), 1000, to, from);
  };
  HostAddress unscoped;
  unscoped.ip[0] = 0xfe;
  unscoped.ip[1] = 0x80;
  EXPECT_EQ(send({unscoped, 1}, {}).status, SendStatus::bad_address);
  EXPECT_EQ(send({kLoopback6, 1}, {}).status, SendStatus::bad_address);
  EXPECT_EQ(send({kLoopback4, 0}, {}).status, SendStatus::bad_address);
  EXPECT_EQ(send(peer.local_address(), kLoopback6).status, SendStatus::bad_address);
  const SendResult gone = send(peer.local_address(), HostAddress::v4(192, 0, 2, 7));  // not an address of this host
  EXPECT_EQ(gone.status, SendStatus::unreachable);                                    // so says IPv4
  EXPECT_EQ(gone.sent, 0u);
  EXPECT_EQ(send(peer.local_address(), {}).sent, 4u);
  EXPECT_EQ(receive_all(peer, 4).size(), 4u);
}

TEST(BadAddress, foreign_source_over_ipv6_is_not_blamed_on_offload) {
  if (!have_ipv6()) GTEST_SKIP() << "no IPv6 on loopback";
  UdpSocket socket = must_open({kLoopback6, 0});
  HostAddress foreign = kLoopback6;
  foreign.ip[0] = 0x20;
  const auto bytes = pattern(4000);
  const SendResult result = socket.send_train(view(bytes), 1000, socket.local_address(), foreign);  // EINVAL
  EXPECT_EQ(result.status, SendStatus::bad_address);
  EXPECT_EQ(result.sent, 0u);
  EXPECT_EQ(socket.counters().gso_refused, 0u);
  EXPECT_EQ(socket.send_train(view(bytes), 1000, socket.local_address()).sent, 4u);
}

/// From here on, in this thread only, sendmsg (the segmented send) fails with `error`; sendmmsg passes.
bool refuse_sendmsg(int error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog code{4, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &code) == 0;
}

class RefusedOffload : public testing::TestWithParam<int> {};

TEST_P(RefusedOffload, field_32_first_refusal_sends_the_same_bytes_singly) {
  UdpSocket sender = must_open({kLoopback4, 0});
  UdpSocket receiver = must_open({kLoopback4, 0});
  if (sender.capabilities().gso != GsoState::usable) GTEST_SKIP() << "no UDP GSO in this kernel";
  const auto bytes = pattern(64000);
  bool armed = false;
  SendResult first;
  SendResult second;
  std::thread driver([&] {
    armed = refuse_sendmsg(GetParam());
    first = sender.send_train(view(bytes), 1472, receiver.local_address());
    second = sender.send_train(view(bytes), 1472, receiver.local_address());
  });
  driver.join();
  if (!armed) GTEST_SKIP() << "seccomp filters are not allowed here";
  EXPECT_EQ(first.status, SendStatus::sent);
  EXPECT_EQ(first.sent, 44u);
  EXPECT_EQ(second.sent, 44u);
  EXPECT_EQ(sender.counters().gso_refused, 1u);
  EXPECT_EQ(sender.capabilities().gso, GsoState::refused);
  EXPECT_EQ(sender.gso_error(), GetParam());
  auto expected = cut(bytes, 1472);
  const auto once = expected;
  expected.insert(expected.end(), once.begin(), once.end());
  EXPECT_EQ(bytes_of(receive_all(receiver, 88)), expected);
  EXPECT_TRUE(drain(receiver).empty());
}

INSTANTIATE_TEST_SUITE_P(Errors, RefusedOffload, testing::Values(EIO, EINVAL),
                         [](const auto& param_info) { return param_info.param == EIO ? "EIO" : "EINVAL"; });

TEST(RefusedOffload, a_segment_above_the_mtu_is_not_blamed_on_offload) {
  UdpSocket sender = must_open({kLoopback4, 0});
  bool armed = false;
  SendResult result;
  const auto bytes = pattern(65528 * 2);
  std::thread driver([&] {
    armed = refuse_sendmsg(EINVAL);
    result = sender.send_train(view(bytes), 65528, {kLoopback4, 9});
  });
  driver.join();
  if (!armed) GTEST_SKIP() << "seccomp filters are not allowed here";
  EXPECT_EQ(result.status, SendStatus::too_big);
  EXPECT_EQ(sender.counters().gso_refused, 0u);
}

}  // namespace
}  // namespace homa::net::test
