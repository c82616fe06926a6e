// Sorted, disjoint, non-adjacent byte ranges: what of a message has arrived, was acknowledged, or was lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.h"

namespace homa {

/// The usual case, one range, lives inside the object; only holes allocate. Not thread-safe.
class RangeSet {
 public:
  bool empty() const { return only_.empty() && more_.empty(); }
  std::size_t count() const { return more_.empty() ? (only_.empty() ? 0 : 1) : more_.size(); }
  /// Precondition: i < count(). Ranges come in ascending order.
  const ByteRange& operator[](std::size_t i) const { return more_.empty() ? only_ : more_[i]; }
  std::size_t memory_bytes() const { return more_.capacity() * sizeof(ByteRange); }
  void clear() {
    only_ = {};
    more_.clear();
  }

  /// Adds a range and returns how many bytes of it were new.
  std::uint64_t add(ByteRange range) {
    if (range.empty()) return 0;
    if (more_.empty()) {
      if (only_.empty()) {
        only_ = range;
        return range.length();
      }
      if (range.begin <= only_.end && range.end >= only_.begin) {
        const std::uint64_t before = only_.length();
        only_ = {std::min(only_.begin, range.begin), std::max(only_.end, range.end)};
        return only_.length() - before;
      }
      more_.push_back(only_);
    }
    return add_among_many(range);
  }

  /// Removes a range and returns how many bytes of it were there.
  std::uint64_t remove(ByteRange range) {
    if (range.empty() || empty()) return 0;
    if (more_.empty()) {
      if (range.begin >= only_.end || range.end <= only_.begin) return 0;
      if (range.begin <= only_.begin || range.end >= only_.end) {
        const std::uint64_t before = only_.length();
        if (range.begin <= only_.begin) only_.begin = std::min(range.end, only_.end);
        if (range.end >= only_.end) only_.end = std::max(range.begin, only_.begin);
        if (only_.empty()) only_ = {};
        return before - only_.length();
      }
      more_.push_back(only_);
    }
    return remove_among_many(range);
  }

  bool contains(ByteRange range) const {
    const std::size_t i = first_ending_after(range.begin);
    return range.empty() || (i < count() && (*this)[i].begin <= range.begin && (*this)[i].end >= range.end);
  }
  bool overlaps(ByteRange range) const {
    const std::size_t i = first_ending_after(range.begin);
    return !range.empty() && i < count() && (*this)[i].begin < range.end;
  }

  /// Calls visit(ByteRange) for each part of `range` that is not in the set, ascending.
  template <typename Visitor>
  void for_each_gap(ByteRange range, Visitor&& visit) const {
    std::uint64_t at = range.begin;
    for (std::size_t i = first_ending_after(range.begin); i < count() && at < range.end; ++i) {
      const ByteRange& have = (*this)[i];
      if (have.begin >= range.end) break;
      if (have.begin > at) visit(ByteRange{at, have.begin});
      at = std::max(at, have.end);
    }
    if (at < range.end) visit(ByteRange{at, range.end});
  }

 private:
  std::size_t first_ending_after(std::uint64_t offset) const {
    if (more_.empty()) return only_.empty() || only_.end > offset ? 0 : 1;
    const auto at = std::upper_bound(more_.begin(), more_.end(), offset,
                                     [](std::uint64_t value, const ByteRange& range) { return value < range.end; });
    return static_cast<std::size_t>(at - more_.begin());
  }

  std::uint64_t add_among_many(ByteRange range) {
    // Ranges [first, last) touch or overlap the new one and melt into it.
    auto first = std::lower_bound(more_.begin(), more_.end(), range.begin,
                                  [](const ByteRange& have, std::uint64_t value) { return have.end < value; });
    auto last = first;
    std::uint64_t had = 0;
    ByteRange joined = range;
    while (last != more_.end() && last->begin <= range.end) {
      had += last->length();
      joined = {std::min(joined.begin, last->begin), std::max(joined.end, last->end)};
      ++last;
    }
    if (first == last) {
      more_.insert(first, joined);
    } else {
      *first = joined;
      more_.erase(first + 1, last);
    }
    settle();
    return joined.length() - had;
  }

  std::uint64_t remove_among_many(ByteRange range) {
    std::uint64_t removed = 0;
    auto at = more_.begin() + static_cast<std::ptrdiff_t>(first_ending_after(range.begin));
    while (at != more_.end() && at->begin < range.end) {
      const ByteRange have = *at;
      const ByteRange cut{std::max(have.begin, range.begin), std::min(have.end, range.end)};
      removed += cut.length();
      const ByteRange left{have.begin, cut.begin};
      const ByteRange right{cut.end, have.end};
      if (left.empty() && right.empty()) {
        at = more_.erase(at);
      } else if (!left.empty() && !right.empty()) {
        *at = left;
        at = more_.insert(at + 1, right) + 1;
      } else {
        *at = left.empty() ? right : left;
        ++at;
      }
    }
    settle();
    return removed;
  }

  // Back to the inline form once at most one range is left; the vector's memory stays for the next hole.
  void settle() {
    if (more_.size() > 1) return;
    only_ = more_.empty() ? ByteRange{} : more_.front();
    more_.clear();
  }

  ByteRange only_;               // the set, while more_ is empty
  std::vector<ByteRange> more_;  // the set, when there are two ranges or more
};

}  // namespace homa
