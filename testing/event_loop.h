// Virtual time: events run in order of their time, and in order of their scheduling when the times are equal.
//
// Built for a fabric simulator (millions of events a second): an event is 32 plain bytes that name an object and a
// small argument; nothing is allocated once the heap has grown. One thread. There is no cancelling: a target that
// changed its mind ignores an event by its argument (a generation).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace homa::sim {

/// What events happen to. Outlives its pending events.
class EventTarget {
 public:
  /// `kind` and `argument` are those given to EventLoop::at().
  virtual void on_event(std::uint8_t kind, std::uint64_t argument) = 0;

 protected:
  ~EventTarget() = default;
};

class EventLoop {
 public:
  Time now() const { return now_; }
  std::size_t pending() const { return heap_.size(); }
  std::uint64_t executed() const { return executed_; }
  /// kNever when nothing is pending.
  Time next_time() const { return heap_.empty() ? kNever : heap_.front().time; }

  /// A time in the past counts as now.
  void at(Time when, EventTarget& target, std::uint8_t kind = 0, std::uint64_t argument = 0) {
    push({when < now_ ? now_ : when, (next_order_++ << 8) | kind, &target, argument});
  }
  void after(Duration delay, EventTarget& target, std::uint8_t kind = 0, std::uint64_t argument = 0) {
    at(now_ + delay, target, kind, argument);
  }

  /// Runs the earliest event; false when there is none.
  bool step() {
    if (heap_.empty()) return false;
    const Entry entry = pop();
    now_ = entry.time;
    ++executed_;
    entry.target->on_event(static_cast<std::uint8_t>(entry.order & 0xff), entry.argument);
    return true;
  }

  /// Runs everything up to and including `end`; then it is `end`.
  void run_until(Time end) {
    while (!heap_.empty() && heap_.front().time <= end) step();
    if (now_ < end) now_ = end;
  }

  /// Runs until `done()` holds, asked after each event; false when `end` came first.
  template <typename Predicate>
  bool run_until(Predicate&& done, Time end) {
    if (done()) return true;
    while (!heap_.empty() && heap_.front().time <= end) {
      step();
      if (done()) return true;
    }
    if (now_ < end) now_ = end;
    return done();
  }

 private:
  struct Entry {
    Time time;
    std::uint64_t order;  // sequence number << 8 | kind: unique, so that the order is total
    EventTarget* target;
    std::uint64_t argument;
  };
  static bool before(const Entry& a, const Entry& b) { return a.time != b.time ? a.time < b.time : a.order < b.order; }

  // A heap with four children per node: half the depth of a binary one, and the children share two cache lines.
  void push(const Entry& entry) {
    heap_.push_back(entry);
    std::size_t at = heap_.size() - 1;
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (!before(entry, heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = entry;
  }

  Entry pop() {
    const Entry top = heap_.front();
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return top;
  }

  void sink(const Entry& entry) {
    const std::size_t count = heap_.size();
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = 4 * at + 1;
      if (first >= count) break;
      std::size_t least = first;
      const std::size_t end = first + 4 < count ? first + 4 : count;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (before(heap_[child], heap_[least])) least = child;
      }
      if (!before(heap_[least], entry)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = entry;
  }

  Time now_{};
  std::uint64_t next_order_ = 0;
  std::uint64_t executed_ = 0;
  std::vector<Entry> heap_;
};

}  // namespace homa::sim
