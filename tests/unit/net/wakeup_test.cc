#include "net/wakeup.h"

#include <thread>

#include "support.h"

namespace homa::net::test {
namespace {

TEST(Wakeup, wakes_a_poll_from_another_thread_and_clears) {
  auto wakeup = Wakeup::create();
  ASSERT_TRUE(wakeup);
  EXPECT_FALSE(wait_for(wakeup->fd(), POLLIN, 0s));
  std::thread other([&] {
    wakeup->signal();
    wakeup->signal();
  });
  EXPECT_TRUE(wait_for(wakeup->fd(), POLLIN));
  other.join();
  EXPECT_TRUE(wakeup->clear());
  EXPECT_FALSE(wakeup->clear());
  EXPECT_FALSE(wait_for(wakeup->fd(), POLLIN, 0s));
}

TEST(Clock, never_goes_back) {
  Time last = now();
  for (int i = 0; i < 1000; ++i) {
    const Time next = now();
    ASSERT_GE(next, last);
    last = next;
  }
}

}  // namespace
}  // namespace homa::net::test
