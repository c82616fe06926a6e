// Ring against std::deque.
#include "base/ring.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/rng.h"

namespace homa {
namespace {

TEST(Ring, AgreesWithADeque) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Ring<std::uint64_t> ring;
    std::deque<std::uint64_t> model;
    const double pushes = 0.35 + rng.unit() * 0.3;
    for (int i = 0; i < 1000; ++i) {
      if (rng.chance(pushes)) {
        const std::uint64_t value = rng.next();
        ASSERT_EQ(ring.push_back(value), value);
        model.push_back(value);
      } else if (!model.empty()) {
        ring.pop_front();
        model.pop_front();
      }
      if (rng.chance(0.01)) {
        ring.clear();
        model.clear();
      }
      if (rng.chance(0.05)) ring.shrink(rng.below(8));
      ASSERT_EQ(ring.size(), model.size());
      ASSERT_EQ(ring.empty(), model.empty());
      for (std::size_t k = 0; k < model.size(); ++k) ASSERT_EQ(ring[k], model[k]);
      if (!model.empty()) {
        ASSERT_EQ(ring.front(), model.front());
        ASSERT_EQ(ring.back(), model.back());
      }
    }
  }
}

TEST(Ring, ASteadyQueueKeepsItsMemory) {
  Ring<int> ring;
  for (int i = 0; i < 5; ++i) ring.push_back(i);
  const std::size_t capacity = ring.capacity();
  for (int i = 0; i < 1000; ++i) {
    ring.push_back(i);
    ring.pop_front();
  }
  EXPECT_EQ(ring.capacity(), capacity);
}

TEST(Ring, ShrinkGivesBackOnlyWhatIsEmptyAndLarge) {
  Ring<int> ring;
  for (int i = 0; i < 100; ++i) ring.push_back(i);
  ring.shrink(0);
  EXPECT_EQ(ring.size(), 100U);
  ring.clear();
  ring.shrink(1000);
  EXPECT_GT(ring.memory_bytes(), 0U);
  ring.shrink(8);
  EXPECT_EQ(ring.memory_bytes(), 0U);
  ring.push_back(7);
  EXPECT_EQ(ring.front(), 7);
}

}  // namespace
}  // namespace homa
