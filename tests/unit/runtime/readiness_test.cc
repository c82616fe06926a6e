#include "runtime/readiness.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/clock.h"
#include "net/wakeup.h"

namespace homa::runtime {
namespace {

bool readable(int fd, int timeout_ms) {
  pollfd descriptor{fd, POLLIN, 0};
  return poll(&descriptor, 1, timeout_ms) == 1;
}

TEST(Readiness, StandsForSocketWakeUpAndTime) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
  net::Wakeup wakeup = std::move(*net::Wakeup::create());
  std::optional<Readiness> readiness = Readiness::create(pair[0], wakeup.fd());
  ASSERT_TRUE(readiness.has_value());
  EXPECT_FALSE(readable(readiness->fd(), 0));

  wakeup.signal();
  EXPECT_TRUE(readable(readiness->fd(), 0));
  wakeup.clear();

  ASSERT_EQ(send(pair[1], "x", 1, 0), 1);
  EXPECT_TRUE(readable(readiness->fd(), 0));
  char byte = 0;
  ASSERT_EQ(recv(pair[0], &byte, 1, 0), 1);
  EXPECT_FALSE(readable(readiness->fd(), 0));

  readiness->arm(net::now() + 1ms, false);
  EXPECT_TRUE(readable(readiness->fd(), 10'000));
  readiness->arm(kNever, false);
  EXPECT_FALSE(readable(readiness->fd(), 0)) << "an expired time is taken back";
  readiness->arm(Time(1ns), false);
  EXPECT_TRUE(readable(readiness->fd(), 10'000)) << "a time in the past is now";
  readiness->arm(kNever, true);
  EXPECT_TRUE(readable(readiness->fd(), 0)) << "the socket is writable";
  close(pair[0]);
  close(pair[1]);
}

}  // namespace
}  // namespace homa::runtime
