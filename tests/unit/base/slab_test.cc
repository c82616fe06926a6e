// Slab against a map of live objects.
#include "base/slab.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace homa {
namespace {

struct Counted {
  explicit Counted(std::uint64_t given) : value(given) { ++alive; }
  ~Counted() { --alive; }
  std::uint32_t slab_index = 0;
  std::uint32_t slab_generation = 0;
  std::uint64_t value;
  static inline int alive = 0;
};

using Name = std::pair<std::uint32_t, std::uint32_t>;

TEST(Slab, FindsTheLivingAndNeverTheDead) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    {
      Slab<Counted> slab;
      std::map<Name, Counted*> living;
      std::vector<Name> dead;
      for (int i = 0; i < 2000; ++i) {
        if (living.empty() || rng.chance(0.52)) {
          Counted& made = slab.create(rng.next());
          ASSERT_NE(made.slab_generation, 0U);  // 0 names nothing
          ASSERT_TRUE(living.emplace(Name{made.slab_index, made.slab_generation}, &made).second);
        } else {
          auto victim = living.begin();
          std::advance(victim, rng.below(living.size()));
          dead.push_back(victim->first);
          slab.destroy(*victim->second);
          living.erase(victim);
        }
        ASSERT_EQ(slab.live(), living.size());
        ASSERT_EQ(Counted::alive, static_cast<int>(living.size()));
      }
      for (const auto& [name, object] : living) {
        EXPECT_EQ(slab.find(name.first, name.second), object);
        EXPECT_EQ(slab.find(name.first, 0), nullptr);
      }
      for (const Name& name : dead) EXPECT_EQ(slab.find(name.first, name.second), nullptr);
      EXPECT_EQ(slab.find(0xffffffff, 1), nullptr);
    }
    EXPECT_EQ(Counted::alive, 0);  // the rest died with the slab
  }
}

TEST(Slab, ASteadyPopulationAllocatesNothing) {
  Slab<Counted> slab;
  std::vector<Counted*> objects;
  for (std::uint64_t i = 0; i < 100; ++i) objects.push_back(&slab.create(i));
  const std::size_t memory = slab.memory_bytes();
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) {
    Counted*& object = objects[rng.below(objects.size())];
    slab.destroy(*object);
    object = &slab.create(std::uint64_t{7});
  }
  EXPECT_EQ(slab.memory_bytes(), memory);
}

}  // namespace
}  // namespace homa
