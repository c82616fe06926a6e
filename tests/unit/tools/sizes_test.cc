#include "bench/sizes.h"

#include <gtest/gtest.h>

#include "failure.h"

namespace homa::tools {
namespace {

TEST(Sizes, AreANumberOrAFile) {
  EXPECT_EQ(parse_sizes("64k").largest(), 64000u);
  EXPECT_TRUE(parse_sizes("0").is_fixed());
  EXPECT_EQ(parse_sizes("100").name(), "100 B");
  EXPECT_FALSE(parse_sizes("w3").is_fixed());
  EXPECT_FALSE(parse_sizes(HOMA_TEST_WORKLOADS "/w1.txt").is_fixed());
}

TEST(Sizes, RefuseWhatTheyCannotRead) {
  for (const char* text : {"12parsecs", "/nonexistent/sizes", "/", ""}) {
    try {
      parse_sizes(text);
      ADD_FAILURE() << text;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit_code(), kExitUsage);
    }
  }
}

}  // namespace
}  // namespace homa::tools
