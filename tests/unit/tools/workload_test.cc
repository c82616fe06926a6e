#include "workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "failure.h"

namespace homa::tools {
namespace {

SizeDistribution parse_text(const std::string& text) {
  std::istringstream input(text);
  return SizeDistribution::parse(input, "sizes.txt");
}

std::string failure_of(const std::string& text) {
  try {
    parse_text(text);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit_code(), kExitUsage);
    return failure.what();
  }
  return "no failure";
}

TEST(SizeDistribution, QuantileTakesTheFirstStepThatReachesU) {
  const auto sizes = parse_text("# comment\n\n10 0.25\n20 0.25\n30 0.75\n40 1\n");
  EXPECT_EQ(sizes.quantile(0.01), 10u);
  EXPECT_EQ(sizes.quantile(0.25), 10u);
  EXPECT_EQ(sizes.quantile(0.26), 30u);
  EXPECT_EQ(sizes.quantile(1.0), 40u);
  EXPECT_DOUBLE_EQ(sizes.mean(), 10 * 0.25 + 30 * 0.5 + 40 * 0.25);
  EXPECT_EQ(sizes.smallest(), 10u);
  EXPECT_EQ(sizes.largest(), 40u);
}

TEST(SizeDistribution, SamplesFollowTheProbabilities) {
  const auto sizes = parse_text("1 0.5\n2 0.9\n3 1\n");
  Rng rng(7);
  int seen[4] = {};
  for (int i = 0; i < 100000; ++i) ++seen[sizes.sample(rng)];
  EXPECT_NEAR(seen[1], 50000, 800);
  EXPECT_NEAR(seen[2], 40000, 800);
  EXPECT_NEAR(seen[3], 10000, 500);
}

TEST(SizeDistribution, ErrorsNameFileAndLine) {
  EXPECT_THAT(failure_of("1 0.5\nx 1\n"), ::testing::StartsWith("sizes.txt:2: 'x' is not a size"));
  EXPECT_THAT(failure_of("1 0.5\n2\n"), ::testing::StartsWith("sizes.txt:2: expected two numbers"));
  EXPECT_THAT(failure_of("1 0.5 9\n"), ::testing::StartsWith("sizes.txt:1: expected two numbers"));
  EXPECT_THAT(failure_of("2 0.5\n1 1\n"), ::testing::StartsWith("sizes.txt:2: sizes must not decrease"));
  EXPECT_THAT(failure_of("1 0.5\n2 0.4\n"), ::testing::StartsWith("sizes.txt:2: probabilities must not decrease"));
  EXPECT_THAT(failure_of("1 1.5\n"), ::testing::StartsWith("sizes.txt:1: probability outside 0..1"));
  EXPECT_THAT(failure_of("1 nan\n"), ::testing::StartsWith("sizes.txt:1:"));
  EXPECT_THAT(failure_of("-1 1\n"), ::testing::StartsWith("sizes.txt:1: '-1' is not a size"));
  EXPECT_THAT(failure_of("1 0.5\n"), ::testing::HasSubstr("the last probability is 0.5"));
  EXPECT_THAT(failure_of("# only words\n"), ::testing::HasSubstr("no sizes in it"));
}

TEST(SizeDistribution, LoadRefusesWhatItCannotRead) {
  EXPECT_THROW(SizeDistribution::load("/nonexistent/sizes"), Failure);
  EXPECT_THROW(SizeDistribution::load("/"), Failure);
}

TEST(SizeDistribution, SizeArgumentIsANumberOrAFile) {
  EXPECT_EQ(parse_sizes("64k").largest(), 64000u);
  EXPECT_TRUE(parse_sizes("0").is_fixed());
  EXPECT_FALSE(parse_sizes("w3").is_fixed());
  EXPECT_FALSE(parse_sizes(HOMA_TEST_WORKLOADS "/w1.txt").is_fixed());
  EXPECT_THROW(parse_sizes("12parsecs"), Failure);
}

/// Each file states its mean in its header; the loader must find the same.
TEST(SizeDistribution, MeansAgreeWithTheHeadersOfOurFiles) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HOMA_TEST_WORKLOADS)) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string before = "mean message ";
    const std::size_t at = text.find(before);
    ASSERT_NE(at, std::string::npos) << entry.path();
    const double stated = std::stod(text.substr(at + before.size()));
    EXPECT_NEAR(SizeDistribution::load(entry.path()).mean(), stated, 0.01 + stated * 1e-6) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 11);
}

}  // namespace
}  // namespace homa::tools
