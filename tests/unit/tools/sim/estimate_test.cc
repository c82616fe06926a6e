#include "sim/sweep_estimate.h"

#include <gtest/gtest.h>

#include "failure.h"
#include "sim/rank.h"
#include "support.h"

#include <map>

namespace homa::tools::sim {
namespace {

TEST(SweepEstimate, WeighsRunsByWhatTheyCost) {
  SweepEstimate estimate({1, 3});
  EXPECT_FALSE(estimate.remaining(10s)) << "nothing is done, so nothing can be told";
  estimate.progress(0, 1);
  EXPECT_DOUBLE_EQ(estimate.done(), 0.25);
  EXPECT_EQ(*estimate.remaining(10s), 30s);
  estimate.progress(1, 0.5);
  EXPECT_DOUBLE_EQ(estimate.done(), 0.625);
  EXPECT_EQ(*estimate.remaining(10s), 6s);
}

TEST(SweepEstimate, NeverGoesBackNorBeyond) {
  SweepEstimate estimate({1});
  estimate.progress(0, 0.6);
  estimate.progress(0, 0.4);
  EXPECT_DOUBLE_EQ(estimate.done(), 0.6);
  estimate.progress(0, 7);
  EXPECT_DOUBLE_EQ(estimate.done(), 1);
  EXPECT_EQ(*estimate.remaining(10s), 0s);
}

TEST(SweepEstimate, LongMessagesCostMore) {
  auto small = tiny_spec(1);
  auto large = tiny_spec(1);
  large.workload = "w5";
  EXPECT_GT(expected_cost(large), 100 * expected_cost(small));
  small.messages *= 2;
  EXPECT_DOUBLE_EQ(expected_cost(small), 2 * expected_cost(tiny_spec(1)));
}

TEST(SweepEstimate, RemainingTimeReadsWell) {
  EXPECT_EQ(human_remaining(0s), "0 s");
  EXPECT_EQ(human_remaining(89s), "89 s");
  EXPECT_EQ(human_remaining(12min), "12 min");
  EXPECT_EQ(human_remaining(200min), "3 h 20 min");
}

using Variables = std::map<std::string, std::string>;

std::optional<Rank> rank_in(const Variables& variables) {
  return rank_of_launcher([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Rank, ReadsTheEnvironmentOfEachLauncher) {
  EXPECT_FALSE(rank_in({}));
  const auto expect = [](const Variables& variables, std::size_t index, std::size_t of) {
    const auto rank = rank_in(variables);
    ASSERT_TRUE(rank);
    EXPECT_EQ(rank->index, index);
    EXPECT_EQ(rank->of, of);
  };
  expect({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"SLURM_PROCID", "9"}, {"SLURM_NTASKS", "10"}},
         1, 4);
  expect({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, 0, 2);
  expect({{"SLURM_ARRAY_TASK_ID", "12"}, {"SLURM_ARRAY_TASK_COUNT", "5"}, {"SLURM_ARRAY_TASK_MIN", "10"}}, 2, 5);
  expect({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}}, 3, 8);
  EXPECT_THROW(rank_in({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}), Failure);
  EXPECT_THROW(rank_in({{"PMI_RANK", "x"}, {"PMI_SIZE", "2"}}), Failure);
  EXPECT_THROW(rank_in({{"SLURM_PROCID", "1"}}), Failure);
}

TEST(Rank, SharesTogetherAreEveryRunOnce) {
  std::vector<int> taken(17);
  for (std::size_t index = 0; index < 5; ++index) {
    for (const std::size_t run : share_of({index, 5}, taken.size())) ++taken[run];
  }
  EXPECT_EQ(taken, std::vector<int>(17, 1));
  EXPECT_TRUE(share_of({4, 5}, 3).empty());
}

}  // namespace
}  // namespace homa::tools::sim
