// RangeSet against a bitmap.
#include "base/range_set.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"

namespace homa {
namespace {

constexpr std::uint64_t kSpan = 200;

class Bitmap {
 public:
  Bitmap() : bits_(kSpan, false) {}
  std::uint64_t set(ByteRange range, bool value) {
    std::uint64_t changed = 0;
    for (std::uint64_t i = range.begin; i < range.end; ++i) {
      changed += bits_[i] != value ? 1U : 0U;
      bits_[i] = value;
    }
    return changed;
  }
  std::uint64_t count(ByteRange range) const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = range.begin; i < range.end; ++i) sum += bits_[i] ? 1U : 0U;
    return sum;
  }
  std::vector<ByteRange> runs(ByteRange range, bool value) const {
    std::vector<ByteRange> found;
    for (std::uint64_t i = range.begin; i < range.end; ++i) {
      if (bits_[i] != value) continue;
      if (!found.empty() && found.back().end == i) {
        ++found.back().end;
      } else {
        found.push_back({i, i + 1});
      }
    }
    return found;
  }

 private:
  std::vector<bool> bits_;
};

ByteRange random_range(Rng& rng, std::uint64_t longest) {
  const std::uint64_t begin = rng.below(kSpan + 1);
  return {begin, std::min(kSpan, begin + rng.below(longest + 1))};
}

TEST(RangeSet, AgreesWithABitmap) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    RangeSet set;
    Bitmap model;
    const std::uint64_t longest = 1 + rng.below(60);
    const double removals = rng.unit() * 0.6;
    for (int i = 0; i < 150; ++i) {
      const ByteRange range = random_range(rng, longest);
      if (rng.chance(removals)) {
        ASSERT_EQ(set.remove(range), model.set(range, false));
      } else {
        ASSERT_EQ(set.add(range), model.set(range, true));
      }
      const std::vector<ByteRange> runs = model.runs({0, kSpan}, true);
      ASSERT_EQ(set.count(), runs.size());
      ASSERT_EQ(set.empty(), runs.empty());
      for (std::size_t k = 0; k < runs.size(); ++k) ASSERT_EQ(set[k], runs[k]);

      const ByteRange asked = random_range(rng, 30);
      ASSERT_EQ(set.contains(asked), model.count(asked) == asked.length());
      ASSERT_EQ(set.overlaps(asked), model.count(asked) > 0);
      std::vector<ByteRange> gaps;
      set.for_each_gap(asked, [&](ByteRange gap) { gaps.push_back(gap); });
      ASSERT_EQ(gaps, model.runs(asked, false));
    }
  }
}

TEST(RangeSet, OneRangeAllocatesNothing) {
  RangeSet set;
  for (std::uint64_t i = 0; i < 1000; ++i) set.add({i * 1000, (i + 1) * 1000});
  set.remove({0, 10});
  EXPECT_EQ(set.count(), 1U);
  EXPECT_EQ(set.memory_bytes(), 0U);
}

TEST(RangeSet, ClearedIsEmpty) {
  RangeSet set;
  set.add({0, 1});
  set.add({5, 9});
  set.clear();
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.overlaps({0, 10}));
  EXPECT_EQ(set.add({5, 9}), 4U);
}

TEST(RangeSet, KeepsOffsetsOf48Bits) {
  constexpr std::uint64_t kEnd = (std::uint64_t{1} << 48) - 1;
  RangeSet set;
  set.add({kEnd - 1, kEnd});
  set.add({0, 1});
  EXPECT_EQ(set.count(), 2U);
  EXPECT_EQ(set.add({0, kEnd}), kEnd - 2);
  EXPECT_TRUE(set.contains({0, kEnd}));
}

}  // namespace
}  // namespace homa
