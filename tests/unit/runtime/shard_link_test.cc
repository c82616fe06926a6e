#include "runtime/shard_link.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <thread>

#include "runtime/idle.h"

namespace homa::runtime {
namespace {

bool readable(int fd) {
  pollfd descriptor{fd, POLLIN, 0};
  return poll(&descriptor, 1, 0) == 1;
}

class ShardLinkTest : public ::testing::Test {
 protected:
  ~ShardLinkTest() override { link_->drop_reference(); }
  ShardLink* link_ = new ShardLink(std::move(*net::Wakeup::create()));
};

Command cancel_of(std::uint32_t index) {
  Command command;
  command.kind = Command::Kind::cancel;
  command.index = index;
  return command;
}

TEST_F(ShardLinkTest, WakesOnlyASleepingShard) {
  ASSERT_TRUE(link_->post(cancel_of(1)));
  EXPECT_FALSE(readable(link_->wakeup_fd()));
  EXPECT_FALSE(link_->prepare_sleep()) << "there is a command";
  std::vector<Command> commands;
  EXPECT_TRUE(link_->take(commands));
  EXPECT_TRUE(link_->prepare_sleep());
  ASSERT_TRUE(link_->post(cancel_of(2)));
  EXPECT_TRUE(readable(link_->wakeup_fd()));
  link_->end_sleep(true);
  EXPECT_FALSE(readable(link_->wakeup_fd()));
}

TEST_F(ShardLinkTest, KeepsTheOrderOfOnePoster) {
  for (std::uint32_t i = 0; i < 100; ++i) ASSERT_TRUE(link_->post(cancel_of(i)));
  std::vector<Command> commands;
  ASSERT_TRUE(link_->take(commands));
  ASSERT_EQ(commands.size(), 100u);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(commands[i].index, i);
  EXPECT_FALSE(link_->take(commands));
}

TEST_F(ShardLinkTest, RefusesAfterClose) {
  ASSERT_TRUE(link_->post(cancel_of(7)));
  std::vector<Command> last;
  link_->close(last);
  EXPECT_EQ(last.size(), 1u);
  EXPECT_FALSE(link_->post(cancel_of(8)));
  EXPECT_TRUE(link_->closed());
}

TEST_F(ShardLinkTest, MessagesOutliveTheShardsReference) {
  auto* link = new ShardLink(std::move(*net::Wakeup::create()));
  std::byte* data = link->messages.allocate(3);
  Message message = link->hand_out({data, 3});
  link->drop_reference();
  EXPECT_EQ(message.size(), 3u);
  message.data()[0] = std::byte{1};
  Message moved = std::move(message);
  EXPECT_EQ(moved.data(), data);
  moved.reset();  // the last reference: under a leak checker this shows when nothing is freed
}

TEST_F(ShardLinkTest, ReturnedMessagesWakeOnlyWhenWanted) {
  Message first = link_->hand_out({link_->messages.allocate(10), 10});
  Message second = link_->hand_out({link_->messages.allocate(10), 10});
  ASSERT_TRUE(link_->prepare_sleep());
  first.reset();
  EXPECT_FALSE(readable(link_->wakeup_fd()));
  link_->end_sleep(false);
  link_->want_returns();
  EXPECT_FALSE(link_->prepare_sleep()) << "the first is still to be collected";
  link_->messages.collect_returned(
      [&](std::byte* data, std::uint64_t length) { link_->messages.release(data, length); });
  ASSERT_TRUE(link_->prepare_sleep());
  second.reset();
  EXPECT_TRUE(readable(link_->wakeup_fd()));
  link_->end_sleep(true);
}

// The classic lost wake-up: the poster looks for a sleeper just before the shard goes to sleep. If one were lost, the
// sleep without a deadline below would never end.
TEST_F(ShardLinkTest, NoWakeUpIsLost) {
  constexpr std::uint32_t kRounds = 20'000;
  std::atomic<std::uint32_t> answered{0};
  std::thread shard([&] {
    Idle idle(*link_, -1, WaitMode::block, Duration::zero());
    std::vector<Command> commands;
    std::uint32_t seen = 0;
    while (seen < kRounds) {
      if (!link_->take(commands)) {
        idle.wait(Time(), kNever, false);
        continue;
      }
      seen += static_cast<std::uint32_t>(commands.size());
      answered.store(seen, std::memory_order_release);
    }
  });
  for (std::uint32_t i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(link_->post(cancel_of(i)));
    if (i % 3 != 0) continue;
    while (answered.load(std::memory_order_acquire) <= i) std::this_thread::yield();
  }
  shard.join();
}

TEST_F(ShardLinkTest, SleepEndsAtItsDeadline) {
  Idle idle(*link_, -1, WaitMode::block, Duration::zero());
  const auto before = Clock::now();
  const Time until(before.time_since_epoch() + 3ms);
  const Idle::Woken woken = idle.wait(Time(), until, false);
  EXPECT_TRUE(woken.slept);
  EXPECT_FALSE(woken.by_thread);
  EXPECT_GE(Clock::now() - before, 3ms);
}

TEST_F(ShardLinkTest, AdaptiveSpinsFirstAndSleepsThen) {
  Idle idle(*link_, -1, WaitMode::adaptive, 50us);
  const Time start(1s);
  idle.note_work(start);
  EXPECT_FALSE(idle.wait(start + 49us, start, false).slept);
  EXPECT_TRUE(idle.wait(start + 50us, start, false).slept);
  Idle spinner(*link_, -1, WaitMode::busy_poll, 50us);
  EXPECT_FALSE(spinner.wait(start + 10s, start, false).slept);
}

}  // namespace
}  // namespace homa::runtime
