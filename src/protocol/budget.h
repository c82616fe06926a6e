// A byte budget that several shards draw from.
#pragma once

#include <atomic>
#include <cstdint>

namespace homa::protocol {

/// Thread-safe. take() never overdraws; what was taken is given back by whoever took it.
class SharedBudget {
 public:
  explicit SharedBudget(std::uint64_t limit) : limit_(limit) {}
  bool take(std::uint64_t bytes) {
    std::uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ || used > limit_ - bytes) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  /// Counts bytes that come whether we like it or not (unscheduled data).
  void force(std::uint64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  std::uint64_t room() const {
    const std::uint64_t now_used = used();
    return now_used < limit_ ? limit_ - now_used : 0;
  }
  void give(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::uint64_t limit() const { return limit_; }

 private:
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace homa::protocol
