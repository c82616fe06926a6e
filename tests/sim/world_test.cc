// Random worlds: a few in every test run, and what they promise: replay by seed, every fault often enough.
#include "testing/world.h"

#include <gtest/gtest.h>

#include <array>

namespace homa::sim {
namespace {

std::string text(std::uint64_t seed, const WorldResult& result) {
  std::string out;
  for (const Violation& violation : result.violations) {
    out += to_string(violation.when) + " [" + violation.checker + "] " + violation.message + "\n";
  }
  return out.empty() ? out : "replay: ./dev sim --seed " + std::to_string(seed) + " --trace\n" + out;
}

class Worlds : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Worlds, NoCheckerComplains) {
  for (std::uint64_t seed = GetParam(); seed < GetParam() + 20; ++seed) {
    World world(draw_world(seed));
    EXPECT_EQ(text(seed, world.run()), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Worlds, ::testing::Range<std::uint64_t>(1, 101, 20));

TEST(World, OneSeedIsOneRun) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const WorldResult first = World(draw_world(seed)).run();
    const WorldResult second = World(draw_world(seed)).run();
    EXPECT_EQ(first.trace_hash, second.trace_hash);
    EXPECT_EQ(first.events, second.events);
    EXPECT_EQ(first.calls_ok, second.calls_ok);
  }
  EXPECT_NE(World(draw_world(1)).run().trace_hash, World(draw_world(2)).run().trace_hash);
}

TEST(World, EachFaultIsActiveInATenthOfTheWorlds) {
  std::array<int, kKnobs> active{};
  int clean = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const WorldPlan plan = draw_world(seed);
    clean += plan.clean() ? 1 : 0;
    for (std::size_t knob = 0; knob < kKnobs; ++knob) active[knob] += plan.knobs[knob] ? 1 : 0;
  }
  for (std::size_t knob = 0; knob < kKnobs; ++knob) EXPECT_GE(active[knob], 300) << to_string(static_cast<Knob>(knob));
  EXPECT_GE(clean, 150);
}

}  // namespace
}  // namespace homa::sim
