// ReceivedNumbers against a set of all numbers.
#include "protocol/received_numbers.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/rng.h"

namespace homa::protocol {
namespace {

std::vector<std::uint64_t> numbers_in(const wire::AckPacket& ack, std::uint64_t largest) {
  EXPECT_EQ(ack.largest, static_cast<std::uint32_t>(largest));
  std::vector<std::uint64_t> numbers;
  std::uint64_t high = largest;
  for (std::size_t i = 0; i < ack.range_count; ++i) {
    EXPECT_EQ(ack.ranges[i].gap == 0, i == 0);
    EXPECT_GE(ack.ranges[i].length, 1U);
    high -= ack.ranges[i].gap;
    for (std::uint32_t k = 0; k < ack.ranges[i].length; ++k) numbers.push_back(high--);
  }
  return numbers;
}

TEST(ReceivedNumbers, NeverTakesTwiceAndNeverReportsWhatDidNotCome) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    ReceivedNumbers numbers;
    std::set<std::uint64_t> model;
    std::uint64_t next = 1;
    const std::uint64_t reordering = 1 + rng.below(seed % 2 == 0 ? 8 : 200);
    const double loss = rng.unit() * 0.5;
    for (int i = 0; i < 1500; ++i) {
      next += rng.chance(loss) ? 1 + rng.below(3) : 1;
      const std::uint64_t number = next > reordering ? next - rng.below(reordering) : next;
      const bool seen = numbers.seen(number);
      ASSERT_TRUE(seen || model.count(number) == 0) << "would be taken twice";
      if (!seen) {
        numbers.add(number);
        model.insert(number);
      } else if (model.count(number) == 0) {
        // Refused though new: allowed only below as many ranges as are kept.
        ASSERT_LT(number, *model.rbegin());
      }
      ASSERT_TRUE(numbers.seen(number));
      ASSERT_EQ(numbers.largest(), *model.rbegin());
      ASSERT_LE(numbers.memory_bytes(), 64 * 24U);
      if (rng.chance(0.2)) {
        wire::AckPacket ack;
        const std::size_t most = 1 + rng.below(wire::kMaxAckRanges);
        numbers.report(ack, most);
        ASSERT_LE(ack.range_count, most);
        for (const std::uint64_t reported : numbers_in(ack, numbers.largest())) ASSERT_EQ(model.count(reported), 1U);
      }
    }
  }
}

TEST(ReceivedNumbers, RefusesNothingNewWhileThereAreFewRanges) {
  ReceivedNumbers numbers;
  for (std::uint64_t i = 1; i <= 60; i += 2) numbers.add(i);
  for (std::uint64_t i = 2; i <= 58; i += 2) {
    ASSERT_FALSE(numbers.seen(i));
    numbers.add(i);
  }
  wire::AckPacket ack;
  numbers.report(ack, wire::kMaxAckRanges);
  EXPECT_EQ(ack.range_count, 1U);
  EXPECT_EQ(ack.ranges[0].length, 59U);
}

TEST(ReceivedNumbers, EveryNumberIsReportedWhenReportsAreRegular) {
  Rng rng(3);
  ReceivedNumbers numbers;
  std::set<std::uint64_t> reported;
  std::set<std::uint64_t> came;
  for (std::uint64_t number = 1; number < 5000; ++number) {
    if (rng.chance(0.1)) continue;
    numbers.add(number);
    came.insert(number);
    if (number % 5 != 0) continue;
    wire::AckPacket ack;
    numbers.report(ack, wire::kMaxAckRanges);
    for (const std::uint64_t r : numbers_in(ack, numbers.largest())) reported.insert(r);
  }
  wire::AckPacket ack;
  numbers.report(ack, wire::kMaxAckRanges);
  for (const std::uint64_t r : numbers_in(ack, numbers.largest())) reported.insert(r);
  EXPECT_EQ(reported, came);
}

TEST(ReceivedNumbers, AnOldRangeIsReportedAFewTimesOnly) {
  ReceivedNumbers numbers;
  numbers.add(1);
  numbers.add(3);
  EXPECT_TRUE(numbers.has_recent_gap());
  int reports = 0;
  for (int i = 0; i < 10; ++i) {
    wire::AckPacket ack;
    numbers.report(ack, wire::kMaxAckRanges);
    reports += ack.range_count == 2 ? 1 : 0;
  }
  EXPECT_EQ(reports, int{ReceivedNumbers::kReports});
  EXPECT_FALSE(numbers.has_recent_gap());
}

TEST(ReceivedNumbers, ReportsNoFartherThanAnAckReaches) {
  // A peer that skips numbers: docs/wire.md section 3 allows lengths and gaps of 2^32 together.
  ReceivedNumbers numbers;
  numbers.add(1);
  numbers.add(std::uint64_t{1} << 31);
  numbers.add((std::uint64_t{1} << 32) + 1);
  wire::AckPacket ack;
  numbers.report(ack, wire::kMaxAckRanges);
  std::uint64_t reach = 0;
  for (std::size_t i = 0; i < ack.range_count; ++i) reach += std::uint64_t{ack.ranges[i].gap} + ack.ranges[i].length;
  EXPECT_LE(reach, std::uint64_t{1} << 32);
  EXPECT_EQ(ack.range_count, 2U);
}

}  // namespace
}  // namespace homa::protocol
