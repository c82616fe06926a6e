#include "runtime/call_status.h"

#include <gtest/gtest.h>

#include <set>

namespace homa::runtime {
namespace {

TEST(CallStatus, EveryEndHasAnErrorOfItsOwn) {
  using protocol::CallStatus;
  std::set<ErrorCode> codes;
  const int first = static_cast<int>(CallStatus::cancelled);
  const int last = static_cast<int>(CallStatus::shut_down);
  for (int i = first; i <= last; ++i) codes.insert(error_code(static_cast<CallStatus>(i)));
  EXPECT_EQ(codes.size(), static_cast<std::size_t>(last - first + 1));
  EXPECT_EQ(codes.count(ErrorCode::would_block), 0u) << "back-pressure is not an end";
}

}  // namespace
}  // namespace homa::runtime
