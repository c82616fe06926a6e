#include "homa/address.h"

#include <gtest/gtest.h>

namespace homa {
namespace {

TEST(Address, TextAndBack) {
  for (const char* text : {"192.0.2.1:4000", "[2001:db8::1]:4000", "[::]:0"}) {
    const Result<Address> address = parse_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(to_string(*address), text);
  }
  ASSERT_TRUE(parse_address(":4000"));
  EXPECT_EQ(parse_address(":4000")->port, 4000);
}

TEST(Address, WrongTextIsAnError) {
  for (const char* text : {"", "192.0.2.1", "192.0.2.1:", "192.0.2.1:70000", "2001:db8::1:4000", "host.example:4000"}) {
    const Result<Address> address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error(), ErrorCode::bad_address) << text;
  }
}

}  // namespace
}  // namespace homa
