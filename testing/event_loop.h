// Virtual time: events run in order of their time, and in order of their scheduling when the times are equal.
//
// Built for a fabric simulator (millions of events a second): what happens within the next few microseconds waits in a
// timing wheel, what is further away in a heap. Nothing is allocated once both have grown. One thread. There is no
// cancelling: a target that changed its mind ignores an event by its argument (a generation).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "testing/timing_wheel.h"

namespace homa::sim {

class EventLoop {
 public:
  Time now() const { return now_; }
  std::size_t pending() const { return heap_.size() + wheel_.size(); }
  std::uint64_t executed() const { return executed_; }
  /// kNever when nothing is pending.
  Time next_time() const { return far_is_first() ? heap_.front().time : wheel_.next_time(); }

  /// A time in the past counts as now.
  void at(Time when, EventTarget& target, std::uint8_t kind = 0, std::uint64_t argument = 0) {
    if (when < now_) when = now_;
    if (when - now_ < Duration(TimingWheel::kSlots)) {
      wheel_.push(when, target, kind, argument);
    } else {
      push({when, (next_order_++ << 8) | kind, &target, argument});
    }
  }
  void after(Duration delay, EventTarget& target, std::uint8_t kind = 0, std::uint64_t argument = 0) {
    at(now_ + delay, target, kind, argument);
  }

  /// Runs the earliest event; false when there is none.
  bool step() {
    if (far_is_first()) {
      const Entry entry = pop();
      now_ = entry.time;
      ++executed_;
      entry.target->on_event(static_cast<std::uint8_t>(entry.order & 0xff), entry.argument);
      return true;
    }
    if (wheel_.size() == 0) return false;
    now_ = wheel_.next_time();
    const TimingWheel::Node node = wheel_.pop();
    ++executed_;
    node.target->on_event(node.kind, node.argument);
    return true;
  }

  /// Runs everything up to and including `end`; then it is `end`.
  void run_until(Time end) {
    while (next_time() <= end && step()) {
    }
    if (now_ < end) now_ = end;
  }

  /// Runs until `done()` holds, asked after each event; false when `end` came first.
  template <typename Predicate>
  bool run_until(Predicate&& done, Time end) {
    if (done()) return true;
    while (next_time() <= end && step()) {
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

  // What waits in the heap for some time was scheduled before whatever waits in the wheel for the same time: it was
  // further away than the wheel reaches, and now only grows.
  bool far_is_first() const { return !heap_.empty() && heap_.front().time <= wheel_.next_time(); }

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
  TimingWheel wheel_;
  std::vector<Entry> heap_;
};

}  // namespace homa::sim
