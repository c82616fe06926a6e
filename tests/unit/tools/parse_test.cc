#include "parse.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "failure.h"
#include "homa/address.h"

namespace homa::tools {
namespace {

TEST(ParseSize, Units) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("100"), 100u);
  EXPECT_EQ(parse_size("100B"), 100u);
  EXPECT_EQ(parse_size("64k"), 64000u);
  EXPECT_EQ(parse_size("64KiB"), 65536u);
  EXPECT_EQ(parse_size("1MB"), 1000000u);
  EXPECT_EQ(parse_size("1.5MiB"), 1572864u);
  EXPECT_EQ(parse_size("2G"), 2000000000u);
  EXPECT_EQ(parse_size("18446744073709551615"), UINT64_MAX);
  for (const char* bad : {"", "x", "-1", "1q", "1kk", "1 k", "nan", "inf", "1e400", "99999999999G"}) {
    EXPECT_FALSE(parse_size(bad)) << bad;
  }
}

TEST(ParseDuration, Units) {
  EXPECT_EQ(parse_duration("5s"), 5s);
  EXPECT_EQ(parse_duration("5"), 5s);
  EXPECT_EQ(parse_duration("0.25s"), 250ms);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("10us"), 10us);
  EXPECT_EQ(parse_duration("7ns"), 7ns);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("1h"), 1h);
  for (const char* bad : {"", "s", "-5s", "5 s", "5parsecs", "1e300h"}) EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(Resolve, WhatIsLeftAwayIsAdded) {
  const std::pair<const char*, const char*> cases[] = {
      {"127.0.0.1", "127.0.0.1:4000"}, {"127.0.0.1:5", "127.0.0.1:5"}, {"::1", "[::1]:4000"},
      {"[::1]", "[::1]:4000"},         {"[::1]:5", "[::1]:5"},         {"fe80::1%lo", "[fe80::1%lo]:4000"}};
  for (const auto& [typed, meant] : cases) EXPECT_EQ(to_string(resolve_server(typed, 4000)), meant);
}

TEST(Resolve, AddressesToListenOnMayBeOpen) {
  EXPECT_EQ(to_string(resolve_bind(":77", 4000)), "[::]:77");
  EXPECT_EQ(to_string(resolve_bind("*", 4000)), "[::]:4000");
  EXPECT_EQ(to_string(resolve_bind("127.0.0.1:0", 4000)), "127.0.0.1:0");
}

TEST(Resolve, FailuresSayWhatAndHow) {
  for (const char* bad : {"", ":4000", "*", "a:", "127.0.0.1:0", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1",
                          "[::1", "[::1]4000", "[::1]:x", "no.such.host.invalid:1"}) {
    try {
      resolve_server(bad, 4000);
      ADD_FAILURE() << bad;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit_code(), kExitUsage);
      EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace homa::tools
