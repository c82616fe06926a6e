#include "protocol/budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/rng.h"

namespace homa::protocol {
namespace {

TEST(SharedBudget, TakesUpToItsLimitExactly) {
  SharedBudget budget(100);
  EXPECT_TRUE(budget.take(60));
  EXPECT_FALSE(budget.take(41));
  EXPECT_TRUE(budget.take(40));
  EXPECT_FALSE(budget.take(1));
  EXPECT_TRUE(budget.take(0));
  EXPECT_EQ(budget.room(), 0U);
  budget.give(100);
  EXPECT_EQ(budget.used(), 0U);
}

TEST(SharedBudget, HugeRequestsDoNotWrap) {
  SharedBudget budget(100);
  EXPECT_TRUE(budget.take(50));
  EXPECT_FALSE(budget.take(~std::uint64_t{0}));
  EXPECT_FALSE(budget.take(~std::uint64_t{0} - 10));
  EXPECT_EQ(budget.used(), 50U);
}

TEST(SharedBudget, ForcedBytesLeaveNoRoom) {
  SharedBudget budget(100);
  budget.force(150);
  EXPECT_EQ(budget.room(), 0U);
  EXPECT_FALSE(budget.take(1));
  budget.give(150);
  EXPECT_EQ(budget.room(), 100U);
}

TEST(SharedBudget, ThreadsNeverOverdrawIt) {
  SharedBudget budget(1000);
  std::atomic<bool> overdrawn{false};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&budget, &overdrawn, t] {
      Rng rng(t);
      std::uint64_t mine = 0;
      for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t bytes = 1 + rng.below(400);
        if (mine > 0 && rng.chance(0.5)) {
          budget.give(mine);
          mine = 0;
        } else if (budget.take(bytes)) {
          mine += bytes;
        }
        if (budget.used() > budget.limit()) overdrawn = true;
      }
      budget.give(mine);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(overdrawn);
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace homa::protocol
