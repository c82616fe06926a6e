#include "parse.h"

#include <gtest/gtest.h>

#include "failure.h"

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

TEST(ParseHostPort, Forms) {
  const auto named = parse_host_port("server:4000");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->host, "server");
  EXPECT_EQ(named->port, 4000);
  const auto v6 = parse_host_port("[2001:db8::1%eth0]:9");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "2001:db8::1%eth0");
  EXPECT_EQ(v6->port, 9);
  const auto bare_v6 = parse_host_port("::1");
  ASSERT_TRUE(bare_v6);
  EXPECT_EQ(bare_v6->host, "::1");
  EXPECT_FALSE(bare_v6->has_port);
  const auto only_port = parse_host_port(":4000");
  ASSERT_TRUE(only_port);
  EXPECT_TRUE(only_port->host.empty());
  for (const char* bad : {"a:", "a:b", "a:65536", "a:-1", "[::1", "[::1]4000", "[::1]:x"}) {
    EXPECT_FALSE(parse_host_port(bad)) << bad;
  }
}

TEST(Resolve, NumbersAndDefaults) {
  EXPECT_EQ(resolve("127.0.0.1", 4000), (Address{HostAddress::v4(127, 0, 0, 1), 4000}));
  EXPECT_EQ(to_text(resolve("127.0.0.1:5", 4000)), "127.0.0.1:5");
  EXPECT_EQ(to_text(resolve("[::1]:5", 4000)), "[::1]:5");
  EXPECT_EQ(to_text(resolve_bind(":77", 4000)), "[::]:77");
  EXPECT_EQ(resolve_bind("127.0.0.1:0", 4000).port, 0);
}

TEST(Resolve, FailuresSayWhatAndHow) {
  for (const char* bad : {"", ":4000", "127.0.0.1:0", "127.0.0.1:x", "no.such.host.invalid:1"}) {
    try {
      resolve(bad, 4000);
      ADD_FAILURE() << bad;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit_code(), kExitUsage);
      EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace homa::tools
