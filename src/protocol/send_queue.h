// Which outgoing message may send next: shortest first, with a share for the oldest (homa-protocol: no starvation).
#pragma once

#include <cstdint>

#include "base/heap.h"
#include "protocol/message.h"
#include "protocol/rpc.h"

namespace homa::protocol {

/// Holds the messages that have something to send right now. O(log n) per operation. Not thread-safe.
class SendQueue {
 public:
  explicit SendQueue(double oldest_share) : oldest_share_(oldest_share) {}

  /// Puts the RPC's outgoing message where its state says: in, out, or to a new place.
  void refresh(Rpc& rpc) {
    if (!rpc.out.sendable()) return remove(rpc);
    if (!contains(rpc)) {
      by_order_.push(rpc);
      by_age_.push(rpc);
    } else {
      by_order_.update(rpc);
    }
  }
  void remove(Rpc& rpc) {
    by_order_.discard(rpc);
    by_age_.discard(rpc);
  }
  bool empty() const { return by_order_.empty(); }
  static bool contains(const Rpc& rpc) { return rpc.order_hook.position != HeapHook::kAbsent; }

  /// The message to send from, or null. The oldest has its turn when its share of the bytes has gathered to `quantum`.
  Rpc* next(std::uint64_t quantum) {
    if (oldest_credit_ >= static_cast<double>(quantum) && by_age_.top() != nullptr) {
      oldest_credit_ = 0;
      return by_age_.top();
    }
    return by_order_.top();
  }
  /// The first by order only: what may share a frame.
  Rpc* first() { return by_order_.top(); }
  void sent(std::uint64_t bytes) {
    if (by_order_.size() > 1) oldest_credit_ += static_cast<double>(bytes) * oldest_share_;
  }
  std::size_t memory_bytes() const { return by_order_.memory_bytes() + by_age_.memory_bytes(); }

 private:
  static OrderKey key(const Rpc& rpc) {
    return {rpc.message_class, rpc.out.deadline_key != 0 ? rpc.out.deadline_key : rpc.out.remaining(), rpc.out.age};
  }
  struct Shorter {
    bool operator()(const Rpc& a, const Rpc& b) const { return key(a) < key(b); }
  };
  struct Older {
    bool operator()(const Rpc& a, const Rpc& b) const { return a.out.age < b.out.age; }
  };
  double oldest_share_;
  double oldest_credit_ = 0;
  Heap<Rpc, &Rpc::order_hook, Shorter> by_order_;
  Heap<Rpc, &Rpc::age_hook, Older> by_age_;
};

}  // namespace homa::protocol
