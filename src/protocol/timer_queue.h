// All deadlines of an endpoint in one heap.
#pragma once

#include <cstdint>

#include "base/heap.h"
#include "base/time.h"

namespace homa::protocol {

enum class TimerKind : std::uint8_t {
  association,  ///< acknowledgments, loss, probes, pings, silence: the earliest of them
  call,         ///< the deadline of a call
  stall,        ///< a message whose sender may send and does not
  held,         ///< messages wait for memory that others may have freed
};

struct TimerNode {
  Time when = kNever;
  TimerKind kind = TimerKind::association;
  void* owner = nullptr;
  HeapHook hook;
};

/// A node may fire early, never late: whoever owns it looks at its state and sets it anew. Not thread-safe.
class TimerQueue {
 public:
  static bool contains(const TimerNode& node) { return node.hook.position != HeapHook::kAbsent; }
  Time next() const { return heap_.empty() ? kNever : heap_.top()->when; }
  TimerNode* pop_due(Time now) { return next() <= now ? heap_.pop() : nullptr; }
  void set(TimerNode& node, Time when) {
    if (when == kNever) return cancel(node);
    node.when = when;
    if (heap_.contains(node)) {
      heap_.update(node);
    } else {
      heap_.push(node);
    }
  }
  /// Makes the node fire at `when` at the latest.
  void set_no_later(TimerNode& node, Time when) {
    if (when < node.when || !heap_.contains(node)) set(node, when);
  }
  void cancel(TimerNode& node) {
    heap_.discard(node);
    node.when = kNever;
  }
  std::size_t memory_bytes() const { return heap_.memory_bytes(); }

 private:
  struct Sooner {
    bool operator()(const TimerNode& a, const TimerNode& b) const { return a.when < b.when; }
  };
  Heap<TimerNode, &TimerNode::hook, Sooner> heap_;
};

}  // namespace homa::protocol
