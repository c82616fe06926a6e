// Addresses as text, both ways, and what is said about text that is none.
#include "net/resolve.h"

#include <net/if.h>

#include "base/address_text.h"
#include "support.h"

namespace homa::net::test {
namespace {

TEST(Parse, round_trips) {
  for (const char* text : {"127.0.0.1:4000", "0.0.0.0:0", "255.255.255.255:65535", "[::]:1", "[::1]:4000",
                           "[2001:db8::5]:80", "[fe80::1%lo]:7"}) {
    const auto address = parse_address(text, NameLookup::numeric_only);
    ASSERT_TRUE(address) << address.error().describe();
    EXPECT_EQ(format(*address), text);
    EXPECT_EQ(*parse_address(format(*address)), *address);
  }
}

TEST(Parse, one_host_has_one_form) {
  EXPECT_EQ(*parse_address("[::ffff:10.0.0.1]:5"), *parse_address("10.0.0.1:5"));
  EXPECT_EQ(*parse_address("10.0.0.1:5"), (Address{HostAddress::v4(10, 0, 0, 1), 5}));
  EXPECT_EQ(*parse_address("[2001:DB8:0:0::5]:80"), *parse_address("[2001:db8::5]:80"));
  EXPECT_EQ(*parse_address("*:80"), *parse_address("[::]:80"));
}

TEST(Parse, scope_by_name_or_number) {
  const auto by_name = parse_address("[fe80::1%lo]:7");
  ASSERT_TRUE(by_name);
  EXPECT_EQ(by_name->host.scope, if_nametoindex("lo"));
  EXPECT_EQ(*parse_address("[fe80::1%" + std::to_string(by_name->host.scope) + "]:7"), *by_name);
  const auto vanished = parse_address("[fe80::1%987654]:7");  // an interface that is gone keeps its number
  ASSERT_TRUE(vanished);
  EXPECT_EQ(format(*vanished), "[fe80::1%987654]:7");
}

TEST(Parse, names_go_through_the_resolver) {
  const auto address = parse_address("localhost:4000");
  ASSERT_TRUE(address) << address.error().describe();
  EXPECT_TRUE(address->host == kLoopback4 || address->host == kLoopback6);
  EXPECT_EQ(address->port, 4000);
  EXPECT_FALSE(parse_address("localhost:4000", NameLookup::numeric_only));
}

TEST(Parse, bad_text_is_explained) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "port is missing"},        {"10.0.0.1", "port is missing"}, {"10.0.0.1:", "not a number"},
      {"10.0.0.1:x", "not a number"}, {"10.0.0.1:65536", "65535"},     {"10.0.0.1:-1", "65535"},
      {"10.0.0.1:5 ", "65535"},       {"10.0.0:5", "not an IPv4"},     {"10.0.0.256:5", "not an IPv4"},
      {":5", "host is missing"},      {"[]:5", "host is missing"},     {"::1:5", "brackets"},
      {"[::1:5", "not closed"},       {"[::1]", "port is missing"},    {"[::1]5", "port is missing"},
      {"[::g]:5", "not an IPv6"},     {"[fe80::1]:5", "interface"},    {"[fe80::1%nosuchif]:5", "nosuchif"},
      {"[fe80::1%]:5", "interface"},  {"[fe80::1%0]:5", "interface"},  {"[2001:db8::1%lo]:5", "only a link-local"},
  };
  for (const auto& [text, words] : cases) {
    const auto address = parse_address(text, NameLookup::numeric_only);
    ASSERT_FALSE(address) << text;
    const std::string said = address.error().describe();
    EXPECT_NE(said.find(words), std::string::npos) << said;
    EXPECT_NE(said.find(text), std::string::npos) << said;
    EXPECT_FALSE(address.error().cure.empty()) << said;
  }
  EXPECT_EQ(parse_address("[fe80::1]:5").error().kind, NetErrorKind::scope_missing);
}

TEST(Parse, unknown_name_is_told_from_broken_name_service) {
  const auto address = parse_address("no-such-host.invalid:1");
  ASSERT_FALSE(address);
  EXPECT_TRUE(address.error().kind == NetErrorKind::unknown_name || address.error().kind == NetErrorKind::name_service)
      << address.error().describe();
}

}  // namespace
}  // namespace homa::net::test
