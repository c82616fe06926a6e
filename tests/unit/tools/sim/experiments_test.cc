#include "sim/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "failure.h"
#include "sim/run_directory.h"
#include "support.h"

namespace homa::tools::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string failure_of(const std::string& experiment, const SweepOptions& options) {
  try {
    plan_runs(find_experiment(experiment), options);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit_code(), kExitUsage);
    EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos);
    return failure.what();
  }
  return "no failure";
}

TEST(Experiments, EveryRunOfEveryExperimentCanRunAndIsPlannedOnce) {
  for (const Experiment& experiment : experiments()) {
    std::set<std::string> specs;
    const auto runs = plan_runs(experiment, {});
    ASSERT_FALSE(runs.empty()) << experiment.name;
    for (const auto& spec : runs) {
      EXPECT_EQ(simulation::fault_of(spec), "") << experiment.name;
      EXPECT_TRUE(specs.insert(simulation::to_json(spec).dump()).second) << experiment.name << " twice";
    }
    const auto again = plan_runs(experiment, {});
    ASSERT_EQ(again.size(), runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      EXPECT_EQ(simulation::to_json(again[i]), simulation::to_json(runs[i])) << experiment.name;
    }
  }
}

TEST(Experiments, TheGridOfThePaperIsFiveWorkloadsTwoLoadsThreeSeeds) {
  const auto runs = plan_runs(find_experiment("homa18-slowdown"), {});
  EXPECT_THAT(runs, SizeIs(5 * 2 * 3));
  for (const auto& spec : runs) {
    EXPECT_EQ(spec.policy, "homa18");
    EXPECT_EQ(spec.carrier, simulation::RunCarrier::native);
    EXPECT_GE(spec.messages, 20000u);
  }
}

TEST(Experiments, OptionsNarrowASweep) {
  SweepOptions options;
  options.workloads = {"w4", "1000"};
  options.loads = {0.8};
  options.seeds = 2;
  options.hosts = 32;
  options.messages = 1234;
  const auto runs = plan_runs(find_experiment("homa18-slowdown"), options);
  ASSERT_THAT(runs, SizeIs(4));
  EXPECT_EQ(runs[0].workload, "w4");
  EXPECT_EQ(runs[1].seed, 2u);
  EXPECT_EQ(runs[3].workload, "1000");
  for (const auto& spec : runs) {
    EXPECT_EQ(spec.hosts, 32u);
    EXPECT_EQ(spec.messages, 1234u);
  }
}

TEST(Experiments, TheDatagramCarrierHasItsOwnUsualPolicy) {
  SweepOptions options;
  options.carriers = {"datagram"};
  for (const auto& spec : plan_runs(find_experiment("homa18-slowdown"), options)) EXPECT_EQ(spec.policy, "libhoma");
}

TEST(Experiments, PrioritiesAndLoadVaryWhatTheyAreAbout) {
  std::set<std::uint32_t> levels;
  for (const auto& spec : plan_runs(find_experiment("homa18-priorities"), {})) levels.insert(spec.priority_levels);
  EXPECT_EQ(levels, (std::set<std::uint32_t>{1, 2, 4, 8}));
  int one_at_a_time = 0;
  for (const auto& spec : plan_runs(find_experiment("homa18-load"), {}))
    one_at_a_time += spec.overcommitment == 1 ? 1 : 0;
  EXPECT_EQ(one_at_a_time, 7);
}

TEST(Experiments, WrongUseIsSaidInOneLineWithTheCure) {
  EXPECT_THROW(find_experiment("homa99"), Failure);
  SweepOptions options;
  options.loads = {1.2};
  EXPECT_THAT(failure_of("homa18-slowdown", options), HasSubstr("at most 1"));
  options = {};
  options.workloads = {"w9"};
  EXPECT_THAT(failure_of("homa18-slowdown", options), HasSubstr("w9: cannot read this workload; give w1 to w5"));
  options = {};
  options.workloads = {"w3"};
  EXPECT_THAT(failure_of("incast", options), HasSubstr("incast has no --workload"));
  options = {};
  options.hosts = 50;
  EXPECT_THAT(failure_of("homa18-slowdown", options), HasSubstr("leaves have 16 each; give a multiple"));
  options = {};
  options.carriers = {"pigeon"};
  EXPECT_THAT(failure_of("homa18-slowdown", options),
              HasSubstr("unknown carrier 'pigeon'; there are native and datagram"));
  options = {};
  options.policies = {"homa18"};
  options.carriers = {"datagram"};
  EXPECT_THAT(failure_of("homa18-slowdown", options), HasSubstr("policy homa18 needs carrier native"));
  options = {};
  options.policies = {"fifo"};
  EXPECT_THAT(failure_of("homa18-slowdown", options), HasSubstr("policy 'fifo' is unknown"));
}

TEST(Experiments, FaultsInFilesNameFileAndLine) {
  const TemporaryFolder folder;
  const auto sizes = folder.path() / "sizes.txt";
  std::ofstream(sizes) << "10 0.5\n10 0.7\n5 1\n";
  SweepOptions options;
  options.workloads = {sizes.string()};
  EXPECT_THAT(failure_of("homa18-slowdown", options), HasSubstr("sizes.txt:3: "));
  std::ofstream(sizes) << "10 0.5\n10 0.7\n20 1\n";  // equal neighbours are legal
  EXPECT_EQ(failure_of("homa18-slowdown", options), "no failure");
  const auto fabric = folder.path() / "fabric.toml";
  std::ofstream(fabric) << "leaves = 2\nspines = 0\nhosts_per_leaf = 4\n[links]\nhost_gbps = 10\nuplink_gbps = 40\n";
  options.topology = fabric.string();
  EXPECT_THAT(failure_of("homa18-slowdown", options), HasSubstr("fabric.toml:2: "));
}

}  // namespace
}  // namespace homa::tools::sim
