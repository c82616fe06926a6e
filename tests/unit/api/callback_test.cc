#include "homa/callback.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace homa {
namespace {

TEST(UniqueFunction, CarriesMoveOnlyCaptures) {
  UniqueFunction<int(int)> add = [one = std::make_unique<int>(1)](int x) { return x + *one; };
  EXPECT_EQ(add(2), 3);
  UniqueFunction<int(int)> moved = std::move(add);
  EXPECT_FALSE(add);
  EXPECT_EQ(moved(3), 4);
}

TEST(UniqueFunction, DestroysItsCaptureExactlyOnce) {
  auto alive = std::make_shared<int>(0);
  const std::array<std::byte, 200> big{};
  for (int round = 0; round < 2; ++round) {
    UniqueFunction<void()> small = [alive] {};
    UniqueFunction<void()> large = [alive, big] { static_cast<void>(big); };
    EXPECT_EQ(alive.use_count(), 3);
    small = std::move(large);
    EXPECT_EQ(alive.use_count(), 2);
    small();
    small.reset();
    EXPECT_EQ(alive.use_count(), 1);
  }
}

}  // namespace
}  // namespace homa
