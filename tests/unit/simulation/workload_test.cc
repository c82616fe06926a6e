#include "simulation/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace homa::simulation {
namespace {

using ::testing::HasSubstr;

TEST(Workload, QuantilesTakeTheFirstStepThatReaches) {
  const auto workload = Workload::parse("# two sizes\n10 0.25\n300 1\n", "f");
  ASSERT_TRUE(workload) << workload.error;
  EXPECT_EQ(workload->quantile(0.25), 10u);
  EXPECT_EQ(workload->quantile(0.2500001), 300u);
  EXPECT_EQ(workload->quantile(1), 300u);
  EXPECT_DOUBLE_EQ(workload->mean(), 0.25 * 10 + 0.75 * 300);
  EXPECT_DOUBLE_EQ(workload->fraction_up_to(9), 0);
  EXPECT_DOUBLE_EQ(workload->fraction_up_to(299), 0.25);
}

TEST(Workload, SamplesFollowTheSteps) {
  const auto workload = Workload::parse("1 0.1\n2 0.7\n3 1\n", "f");
  ASSERT_TRUE(workload);
  Rng rng(3);
  std::map<std::uint64_t, int> seen;
  constexpr int kSamples = 100000;
  for (int i = 0; i < kSamples; ++i) ++seen[workload->sample(rng)];
  EXPECT_NEAR(seen[1], 0.1 * kSamples, 400);  // four standard deviations of a binomial count
  EXPECT_NEAR(seen[2], 0.6 * kSamples, 620);
  EXPECT_NEAR(seen[3], 0.3 * kSamples, 580);
}

TEST(Workload, EqualNeighboursAreLegalAndOneStep) {
  const auto workload = Workload::parse("5 0.5\n5 0.75\n9 0.75\n10 1\n", "f");
  ASSERT_TRUE(workload) << workload.error;
  ASSERT_EQ(workload->steps().size(), 2u);
  EXPECT_DOUBLE_EQ(workload->steps()[0].probability, 0.75);
}

TEST(Workload, FaultsNameTheLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"10 0.5\n9 1\n", "f:2: size 9 comes after 10"},
      {"10 0.5\n11 0.4\n", "f:2: probability 0.4 comes after 0.5"},
      {"10 0.5\n", "the last probability is 0.5, it must be 1"},
      {"", "the last probability is 0, it must be 1"},
      {"ten 1\n", "f:1: 'ten' is not a size"},
      {"1 nan\n", "f:1: "},
      {"10\n", "f:1: two numbers"},
      {"10 1 2\n", "f:1: two numbers"},
      {"-10 1\n", "f:1: '-10' is not a size"},
      {"10 1.5\n", "f:1: a probability"},
      {"99999999999 1\n", "f:1: a message has"},
  };
  for (const auto& [text, part] : cases) {
    const auto workload = Workload::parse(text, "f");
    ASSERT_FALSE(workload) << text;
    EXPECT_THAT(workload.error, HasSubstr(part));
  }
}

TEST(Workload, NamesNumbersAndFiles) {
  EXPECT_EQ(Workload::load("10000")->mean(), 10000);
  EXPECT_NEAR(Workload::load("w1")->mean(), 187.51, 0.01);
  EXPECT_FALSE(Workload::load("0"));
  const auto missing = Workload::load("w9");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error, HasSubstr("w1 to w5"));
}

// Each file states its mean in its header.
TEST(Workload, MeansAgreeWithTheHeadersOfOurFiles) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HOMA_TEST_WORKLOADS)) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string before = "mean message ";
    const std::size_t at = text.find(before);
    ASSERT_NE(at, std::string::npos) << entry.path();
    const double stated = std::stod(text.substr(at + before.size()));
    const auto workload = Workload::read(entry.path());
    ASSERT_TRUE(workload) << workload.error;
    EXPECT_NEAR(workload->mean(), stated, 0.01 + stated * 1e-6) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 11);
}

}  // namespace
}  // namespace homa::simulation
