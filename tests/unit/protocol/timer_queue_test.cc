#include "protocol/timer_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/rng.h"

namespace homa::protocol {
namespace {

TEST(TimerQueue, FiresInOrderWhatAMapWouldFire) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<TimerNode> nodes(30);
    TimerQueue queue;
    std::map<TimerNode*, Time> model;
    Time now{};
    for (int i = 0; i < 2000; ++i) {
      TimerNode& node = nodes[rng.below(nodes.size())];
      const Time when = rng.chance(0.05) ? kNever : now + Duration(static_cast<Duration::rep>(rng.below(100)));
      switch (rng.below(4)) {
        case 0:
          queue.set(node, when);
          model.erase(&node);
          if (when != kNever) model[&node] = when;
          break;
        case 1:
          queue.set_no_later(node, when);
          if (when != kNever && (model.count(&node) == 0 || when < model[&node])) model[&node] = when;
          break;
        case 2:
          queue.cancel(node);
          model.erase(&node);
          break;
        case 3: {
          now += Duration(static_cast<Duration::rep>(rng.below(10)));
          Time last = Time::min();
          while (TimerNode* due = queue.pop_due(now)) {
            ASSERT_EQ(model.count(due), 1U);
            ASSERT_EQ(model[due], due->when);
            ASSERT_LE(due->when, now);
            ASSERT_GE(due->when, last);
            last = due->when;
            model.erase(due);
          }
          for (const auto& [left, at] : model) ASSERT_GT(at, now);
          break;
        }
      }
      Time soonest = kNever;
      for (const auto& [left, at] : model) soonest = std::min(soonest, at);
      ASSERT_EQ(queue.next(), soonest);
      ASSERT_EQ(TimerQueue::contains(node), model.count(&node) > 0);
    }
  }
}

}  // namespace
}  // namespace homa::protocol
