#include "protocol/uplink.h"

#include <gtest/gtest.h>

namespace homa::protocol {
namespace {

constexpr Time kStart{10s};
const Rate kGigabyte = Rate::bytes_per_second(1'000'000'000);  // one byte per nanosecond

TEST(RateEstimate, IsTheLargestOfTheLastPeriods) {
  RateEstimate estimate{Rate()};
  EXPECT_FALSE(estimate.rate().known());
  estimate.sample(Rate::bytes_per_second(100), kStart);
  estimate.sample(Rate::bytes_per_second(50), kStart + 1ms);
  EXPECT_EQ(estimate.rate().bytes_per_second(), 100U);
  estimate.sample(Rate::bytes_per_second(60), kStart + 1100ms);
  EXPECT_EQ(estimate.rate().bytes_per_second(), 100U) << "the period before still counts";
  estimate.sample(Rate::bytes_per_second(60), kStart + 2200ms);
  EXPECT_EQ(estimate.rate().bytes_per_second(), 60U);
  estimate.sample(Rate::bytes_per_second(10), kStart + 60s);
  EXPECT_EQ(estimate.rate().bytes_per_second(), 10U) << "old periods are forgotten";
}

TEST(RateEstimate, AFixedRateIsNotMeasured) {
  RateEstimate estimate{kGigabyte};
  estimate.sample(Rate::bytes_per_second(5), kStart);
  EXPECT_EQ(estimate.rate(), kGigabyte);
}

TEST(Uplink, LeavesNoMoreThanTheBudgetInTheNic) {
  Uplink uplink(kGigabyte, 10us);
  EXPECT_LE(uplink.next_start(), kStart);
  uplink.sent(10'000, kStart);  // 10 us worth
  EXPECT_EQ(uplink.next_start(), kStart) << "what is queued just fills the budget";
  uplink.sent(5'000, kStart);
  EXPECT_EQ(uplink.next_start(), kStart + 5us);
}

TEST(Uplink, TrainsAreTheBudgetButAtLeastTheFloor) {
  Uplink uplink(kGigabyte, 10us);
  EXPECT_EQ(uplink.train_bytes(2904, 65507), 10'000U);
  EXPECT_EQ(uplink.train_bytes(17'904, 65507), 17'904U);
  EXPECT_EQ(uplink.train_bytes(90'000, 65507), 65507U);
  EXPECT_EQ(Uplink(Rate(), 10us).train_bytes(2904, 65507), 65507U) << "rate not known";
  EXPECT_EQ(Uplink(Rate::gigabits_per_second(400), 10us).train_bytes(2904, 65507), 65507U);
}

TEST(Uplink, ABacklogSeenByTheDriverDelaysTheNextTrain) {
  Uplink uplink(kGigabyte, 10us);
  uplink.backlog(100'000, kStart);
  EXPECT_EQ(uplink.next_start(), kStart + 90us);
}

TEST(Uplink, WithoutARateALargeBacklogHoldsForAWhile) {
  Uplink uplink(Rate(), 10us);
  uplink.sent(1'000'000, kStart);
  EXPECT_LE(uplink.next_start(), kStart);
  uplink.backlog(1000, kStart);
  EXPECT_LE(uplink.next_start(), kStart);
  uplink.backlog(1'000'000, kStart);
  EXPECT_GT(uplink.next_start(), kStart);
  EXPECT_LE(uplink.next_start(), kStart + 1ms);
}

TEST(Uplink, DrainsTeachTheRate) {
  Uplink uplink(Rate(), 10us);
  uplink.drained(100'000, 100us, kStart);
  EXPECT_EQ(uplink.rate(), kGigabyte);
  uplink.drained(0, 0us, kStart);
  EXPECT_EQ(uplink.rate(), kGigabyte);
}

}  // namespace
}  // namespace homa::protocol
