#include "homa/error.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace homa {
namespace {

TEST(Error, EveryCodeHasANameACauseAndACure) {
  std::set<std::string> names;
  std::set<std::string> texts;
  const int last = static_cast<int>(ErrorCode::system_error);
  for (int i = 0; i <= last; ++i) {
    const Error error(static_cast<ErrorCode>(i));
    names.insert(std::string(to_string(error.code())));
    texts.insert(error.message());
    EXPECT_NE(error.message().find("; "), std::string::npos);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last) + 1);
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(last) + 1);
  EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(Error, DetailIsPartOfTheMessage) {
  const Error error(ErrorCode::bad_option, "shards: 1 .. 64");
  EXPECT_NE(error.message().find("shards: 1 .. 64"), std::string::npos);
}

TEST(Error, AnExplainedOneSaysNothingTwice) {
  const Error error = Error::explained(ErrorCode::address_in_use, "port 4000 is taken; choose another");
  EXPECT_EQ(error, ErrorCode::address_in_use);
  EXPECT_EQ(error.message(), "port 4000 is taken; choose another");
}

TEST(Result, HoldsAValueOrAnError) {
  Result<std::unique_ptr<int>> good(std::make_unique<int>(5));
  ASSERT_TRUE(good);
  EXPECT_EQ(**good, 5);
  const std::unique_ptr<int> taken = std::move(*good);
  EXPECT_EQ(*taken, 5);
  const Result<std::unique_ptr<int>> bad(ErrorCode::refused);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error(), ErrorCode::refused);
  EXPECT_TRUE(Result<void>());
  EXPECT_EQ(Result<void>(ErrorCode::refused).error(), ErrorCode::refused);
}

}  // namespace
}  // namespace homa
