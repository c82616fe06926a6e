// Nobody joins a group of shards silently.
#include "net/port_guard.h"

#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

namespace homa::net::test {
namespace {

UdpOptions shard_options() {
  UdpOptions options;
  options.reuse_port = true;
  return options;
}

/// Runs `body` in a child process and returns the text that it wrote.
template <typename Body>
std::string in_child(Body body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string said = body();
    const ssize_t written = write(ends[1], said.data(), said.size());
    _exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

std::string try_guard(const Address& address, bool share = false) {
  PortGuard::Options options;
  options.share = share;
  const auto guard = PortGuard::acquire(address, options);
  return guard ? "acquired" : guard.error().describe();
}

TEST(PortGuard, shards_open_on_the_port_that_it_found) {
  const auto guard = PortGuard::acquire({kLoopback4, 0});
  ASSERT_TRUE(guard) << guard.error().describe();
  ASSERT_NE(guard->address().port, 0);
  UdpSocket first = must_open(guard->address(), shard_options());
  UdpSocket second = must_open(guard->address(), shard_options());
  EXPECT_EQ(first.local_address(), second.local_address());
}

TEST(PortGuard, field_37_second_process_is_refused_and_told_who_holds_the_port) {
  const auto guard = PortGuard::acquire({kLoopback4, 0});
  ASSERT_TRUE(guard);
  const std::string before_bind = in_child([&] { return try_guard(guard->address()); });
  UdpSocket shard = must_open(guard->address(), shard_options());
  const std::string after_bind = in_child([&] { return try_guard(guard->address()); });
  for (const std::string& said : {before_bind, after_bind}) {
    EXPECT_NE(said.find("port " + std::to_string(guard->address().port)), std::string::npos) << said;
    EXPECT_NE(said.find("process " + std::to_string(getpid())), std::string::npos) << said;
    EXPECT_NE(said.find("choose another port"), std::string::npos) << said;
  }
}

TEST(PortGuard, field_37_a_group_without_guard_is_noticed_too) {
  UdpSocket foreign = must_open({kLoopback4, 0}, shard_options());
  const std::string said = in_child([&] { return try_guard(foreign.local_address()); });
  EXPECT_NE(said.find("another socket has this port"), std::string::npos) << said;
  EXPECT_NE(try_guard({kAny4, foreign.local_address().port}), "acquired");
  if (have_ipv6()) {
    EXPECT_NE(try_guard({kAny6, foreign.local_address().port}), "acquired");
  }
}

TEST(PortGuard, sharing_must_be_asked_for_by_both) {
  const auto exclusive = PortGuard::acquire({kLoopback4, 0});
  ASSERT_TRUE(exclusive);
  EXPECT_NE(in_child([&] { return try_guard(exclusive->address(), true); }), "acquired");

  UdpSocket any = must_open({kLoopback4, 0}, shard_options());
  const Address shared_address = any.local_address();
  PortGuard::Options share;
  share.share = true;
  const auto first = PortGuard::acquire(shared_address, share);
  ASSERT_TRUE(first) << first.error().describe();
  EXPECT_EQ(in_child([&] { return try_guard(shared_address, true); }), "acquired");
  EXPECT_NE(in_child([&] { return try_guard(shared_address, false); }), "acquired");
}

TEST(PortGuard, is_free_again_after_the_holder_died_or_let_go) {
  Address address;
  {
    const auto guard = PortGuard::acquire({kLoopback4, 0});
    ASSERT_TRUE(guard);
    address = guard->address();
  }
  EXPECT_EQ(in_child([&] { return try_guard(address); }), "acquired");
  const auto again = PortGuard::acquire(address);
  EXPECT_TRUE(again) << again.error().describe();
}

TEST(PortGuard, different_addresses_may_have_the_same_port) {
  const auto first = PortGuard::acquire({HostAddress::v4(127, 0, 0, 2), 0});
  ASSERT_TRUE(first);
  const auto second = PortGuard::acquire({HostAddress::v4(127, 0, 0, 3), first->address().port});
  EXPECT_TRUE(second) << second.error().describe();
}

TEST(PortGuard, a_crowd_of_askers_does_not_open_it) {
  const auto guard = PortGuard::acquire({kLoopback4, 0});
  ASSERT_TRUE(guard);
  for (int i = 0; i < 50; ++i) EXPECT_NE(try_guard(guard->address(), i % 2 == 0), "acquired");
}

}  // namespace
}  // namespace homa::net::test
