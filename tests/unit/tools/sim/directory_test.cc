// Plan, run, merge: with runs that are small but real.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <sstream>

#include "failure.h"
#include "sim/experiment.h"
#include "sim/merge.h"
#include "sim/sweep.h"
#include "support.h"

namespace homa::tools::sim {
namespace {

using ::testing::HasSubstr;

const std::atomic<bool> kGoOn{false};

std::string content(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

void run_all(const RunDirectory& directory) {
  for (const std::size_t run : directory.unfinished()) {
    run_one(directory.spec_file(run), directory.result_file(run), false, kGoOn);
  }
}

TEST(RunDirectory, WhatIsPlannedCanBeRunAndMerged) {
  const TemporaryFolder folder;
  const auto planned = RunDirectory::plan(folder.path() / "it's", "homa18-slowdown", {tiny_spec(1), tiny_spec(2)});
  const auto directory = RunDirectory::open(folder.path() / "it's");
  ASSERT_EQ(directory.size(), 2u);
  EXPECT_EQ(directory.experiment(), "homa18-slowdown");
  EXPECT_EQ(directory.name(1), "002-w2-50-homa18-native-s2");
  EXPECT_EQ(simulation::to_json(directory.spec(1)), simulation::to_json(tiny_spec(2)));
  EXPECT_THAT(content(directory.folder() / "commands.txt"),
              HasSubstr("/it'\\''s/specs/002-w2-50-homa18-native-s2.json'"));

  EXPECT_THROW(merge(directory), Failure);
  run_one(directory.spec_file(0), directory.result_file(0), false, kGoOn);
  EXPECT_EQ(directory.unfinished(), std::vector<std::size_t>{1});
  const Merged half = merge(directory);
  EXPECT_EQ(half.missing, std::vector<std::string>{"002-w2-50-homa18-native-s2"});
  EXPECT_THAT(to_text(half, 2), HasSubstr("incomplete: 1 of 2 runs are missing: 002-w2-50"));

  run_all(directory);
  const Merged whole = merge(directory);
  EXPECT_TRUE(whole.missing.empty());
  const auto json = nlohmann::json::parse(whole.json);
  EXPECT_EQ(json.at("runs").size(), 2u);
  EXPECT_EQ(json.at("runs")[0].at("messages_measured"), 2000);
  EXPECT_GT(whole.cpu_seconds, 0);
  EXPECT_THAT(whole.json, ::testing::Not(HasSubstr("cpu_seconds")));
  EXPECT_THAT(whole.cost_json, HasSubstr("cpu_seconds"));
  EXPECT_THAT(to_text(whole, 2), HasSubstr("w2 50 %"));
}

TEST(RunDirectory, TheSameSeedsGiveTheSameBytes) {
  std::string before;
  for (int repetition = 0; repetition < 2; ++repetition) {
    const TemporaryFolder folder;
    const auto directory = RunDirectory::plan(folder.path(), "homa18-slowdown", {tiny_spec(1), tiny_spec(7)});
    run_all(directory);
    const Merged merged = merge(directory);
    if (repetition > 0) {
      EXPECT_EQ(merged.json, before);
    }
    before = merged.json;
    const auto runs = nlohmann::json::parse(merged.json).at("runs");
    EXPECT_NE(runs[0].at("all"), runs[1].at("all")) << "seeds must matter";
  }
}

TEST(RunDirectory, APlanWithOtherSpecsRunsOnlyWhatDiffers) {
  const TemporaryFolder folder;
  run_all(RunDirectory::plan(folder.path(), "homa18-slowdown", {tiny_spec(1), tiny_spec(2)}));
  auto changed = tiny_spec(2);
  changed.messages = 1000;
  const auto again = RunDirectory::plan(folder.path(), "homa18-slowdown", {tiny_spec(1), changed});
  EXPECT_EQ(again.unfinished(), std::vector<std::size_t>{1});
}

TEST(RunDirectory, RefusesWhatIsNotItsOwn) {
  const TemporaryFolder folder;
  RunDirectory::plan(folder.path(), "homa18-slowdown", {tiny_spec(1)});
  EXPECT_THROW(RunDirectory::plan(folder.path(), "homa18-load", {tiny_spec(1)}), Failure);
  EXPECT_THROW(RunDirectory::open(folder.path() / "nothing"), Failure);
  EXPECT_THROW(RunDirectory::plan("/proc/nowhere", "homa18-load", {tiny_spec(1)}), Failure);
  std::ofstream(folder.path() / "plan.json") << "{\n\"experiment\": oops}\n";
  try {
    RunDirectory::open(folder.path());
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("plan.json:2: no JSON"));
  }
}

TEST(RunDirectory, FaultsInASpecNameItsFile) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "spec.json") << R"({"load": 1.5})";
  try {
    run_one(folder.path() / "spec.json", {}, false, kGoOn);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit_code(), kExitUsage);
    EXPECT_THAT(failure.what(), HasSubstr("spec.json: load must be"));
  }
}

TEST(Sweep, AStoppedRunLeavesNoResult) {
  const TemporaryFolder folder;
  auto spec = tiny_spec(1);
  spec.messages = 100'000'000;  // the stop comes at the first report
  const auto directory = RunDirectory::plan(folder.path(), "homa18-slowdown", {spec});
  const std::atomic<bool> stop{true};
  EXPECT_THROW(run_one(directory.spec_file(0), directory.result_file(0), false, stop), Failure);
  EXPECT_FALSE(std::filesystem::exists(directory.result_file(0)));
  const SweepOutcome outcome = run_sweep(directory, {0}, 1, stop);
  EXPECT_TRUE(outcome.is_stopped);
  EXPECT_EQ(outcome.done, 0u);
}

}  // namespace
}  // namespace homa::tools::sim
