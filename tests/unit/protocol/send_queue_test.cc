// The send queue against a linear search.
#include "protocol/send_queue.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "base/rng.h"

namespace homa::protocol {
namespace {

void make_sendable(Rpc& rpc, std::uint64_t length, std::uint64_t age) {
  rpc.out = OutMessage();
  rpc.out.payload.length = length;
  rpc.out.limit = length;
  rpc.out.age = age;
  rpc.out.active = true;
}

const Rpc* best_of(const std::vector<Rpc>& rpcs) {
  const Rpc* best = nullptr;
  const auto key = [](const Rpc& rpc) {
    return std::tuple(rpc.message_class, rpc.out.deadline_key != 0 ? rpc.out.deadline_key : rpc.out.remaining(),
                      rpc.out.age);
  };
  for (const Rpc& rpc : rpcs) {
    if (rpc.out.sendable() && (best == nullptr || key(rpc) < key(*best))) best = &rpc;
  }
  return best;
}

TEST(SendQueue, TheFirstIsAlwaysTheShortestThatMaySend) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<Rpc> rpcs(25);
    SendQueue queue(0.05);
    std::uint64_t age = 1;
    for (int i = 0; i < 2000; ++i) {
      Rpc& rpc = rpcs[rng.below(rpcs.size())];
      switch (rng.below(6)) {
        case 0:
          queue.remove(rpc);  // a class or deadline changes only outside of the queue
          make_sendable(rpc, 1 + rng.below(1000), age++);
          rpc.message_class = static_cast<std::uint8_t>(rng.below(2));
          rpc.out.deadline_key = rng.chance(0.2) ? 1 + rng.below(500) : 0;
          break;
        case 1:
          rpc.out.acknowledged_bytes = rng.below(rpc.out.length() + 1);
          break;
        case 2:
          rpc.out.hold = !rpc.out.hold;
          break;
        case 3:
          rpc.out.next = rpc.out.limit;
          break;
        case 4:
          if (rpc.out.length() > 0) rpc.out.lost.add({0, 1});
          break;
        case 5:
          rpc.out.active = false;
          break;
      }
      queue.refresh(rpc);
      ASSERT_EQ(SendQueue::contains(rpc), rpc.out.sendable());
      ASSERT_EQ(queue.first(), best_of(rpcs));
      ASSERT_EQ(queue.empty(), best_of(rpcs) == nullptr);
    }
  }
}

TEST(SendQueue, TheOldestGetsItsShareOfTheBytes) {
  std::vector<Rpc> rpcs(2);
  SendQueue queue(0.05);
  make_sendable(rpcs[0], 1'000'000, 1);  // old and long
  make_sendable(rpcs[1], 500, 2);
  for (Rpc& rpc : rpcs) queue.refresh(rpc);
  std::uint64_t old_bytes = 0;
  std::uint64_t all_bytes = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (queue.next(4096) == &rpcs[0]) old_bytes += 1400;
    all_bytes += 1400;
    queue.sent(1400);
  }
  const double share = static_cast<double>(old_bytes) / static_cast<double>(all_bytes);
  EXPECT_GT(share, 0.01);
  EXPECT_LE(share, 0.05);
}

TEST(SendQueue, WithoutAShareTheShortestAlwaysGoes) {
  std::vector<Rpc> rpcs(2);
  SendQueue queue(0);
  make_sendable(rpcs[0], 1'000'000, 1);
  make_sendable(rpcs[1], 500, 2);
  for (Rpc& rpc : rpcs) queue.refresh(rpc);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(queue.next(4096), &rpcs[1]);
    queue.sent(1400);
  }
}

TEST(SendQueue, EmptyHasNoNext) {
  SendQueue queue(1.0);
  EXPECT_EQ(queue.next(1), nullptr);
  queue.sent(1'000'000);
  EXPECT_EQ(queue.next(1), nullptr);
}

}  // namespace
}  // namespace homa::protocol
