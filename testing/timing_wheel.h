// The near future of an event loop: one slot per nanosecond, so that scheduling and running cost the same however much
// is pending. Nothing is allocated once it has grown. One thread.
#pragma once

#include <array>
#include <bit>
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

/// A first-in first-out list per nanosecond. Since all that waits lies less than kSlots ahead of now,
/// a slot never holds two different times.
class TimingWheel {
 public:
  /// Longer than a frame of 9000 bytes takes at 10 Gbit/s; the part in use stays in the first-level cache.
  static constexpr std::uint32_t kSlots = 8192;

  struct Node {
    EventTarget* target;
    std::uint64_t argument;
    std::uint32_t next;
    std::uint8_t kind;
  };

  TimingWheel() : slots_(kSlots) {}
  std::size_t size() const { return size_; }
  /// Of the earliest event; kNever when empty.
  Time next_time() const { return next_time_; }

  /// Precondition: now <= when < now + kSlots.
  void push(Time when, EventTarget& target, std::uint8_t kind, std::uint64_t argument) {
    const std::uint32_t at = take_node();
    nodes_[at] = {&target, argument, kNone, kind};
    const std::uint32_t index = slot_of(when);
    Slot& slot = slots_[index];
    if (slot.head == kNone) {
      slot.head = at;
      occupied_[index / 64] |= std::uint64_t{1} << (index % 64);
    } else {
      nodes_[slot.tail].next = at;
    }
    slot.tail = at;
    ++size_;
    if (when < next_time_) next_time_ = when;
  }

  /// Takes the earliest event out. Precondition: not empty.
  Node pop() {
    const std::uint32_t index = slot_of(next_time_);
    Slot& slot = slots_[index];
    const std::uint32_t at = slot.head;
    const Node node = nodes_[at];
    slot.head = node.next;
    nodes_[at].next = free_;
    free_ = at;
    --size_;
    if (slot.head == kNone) {
      occupied_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
      next_time_ = size_ == 0 ? kNever : next_time_ + distance_to_next(index);
    }
    return node;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::uint32_t kWords = kSlots / 64;
  struct Slot {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
  };

  static std::uint32_t slot_of(Time time) {
    return static_cast<std::uint32_t>(time.time_since_epoch().count()) & (kSlots - 1);
  }
  std::uint32_t take_node() {
    if (free_ == kNone) {
      nodes_.emplace_back();
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const std::uint32_t at = free_;
    free_ = nodes_[at].next;
    return at;
  }
  // From an empty slot to the next occupied one, around the end. Precondition: there is one.
  Duration distance_to_next(std::uint32_t from) const {
    std::uint32_t word = from / 64;
    std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (from % 64));
    while (bits == 0) {
      word = (word + 1) % kWords;
      bits = occupied_[word];
    }
    const std::uint32_t found = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
    return Duration((found - from) & (kSlots - 1));
  }

  std::vector<Slot> slots_;
  std::array<std::uint64_t, kWords> occupied_{};  // bit per slot
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::size_t size_ = 0;
  Time next_time_ = kNever;
};

}  // namespace homa::sim
