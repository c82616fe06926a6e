// What a Request of the public API refers to, and the pool of these records.
//
// Threads: take() on the shard's thread; give() from any, without a lock. Ownership: the pool owns the records.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/address.h"
#include "base/time.h"
#include "homa/message.h"
#include "protocol/event.h"

namespace homa::runtime {

class ShardLink;

struct RequestRecord {
  ShardLink* link = nullptr;  ///< counted reference while in use
  RequestRecord* next = nullptr;
  protocol::RequestId id;
  /// Holds id.generation once the caller of that request is gone.
  const std::atomic<std::uint32_t>* cancelled_generation = nullptr;
  Message message;
  Address peer;
  Time deadline = kNever;
  std::uint8_t message_class = 0;
  bool idempotent = false;
  bool one_way = false;
  bool answered = false;
};

class RequestPool {
 public:
  RequestRecord* take() {
    if (free_ == nullptr) free_ = returned_.exchange(nullptr, std::memory_order_acquire);
    if (free_ == nullptr) grow();
    RequestRecord* record = free_;
    free_ = record->next;
    return record;
  }
  void give(RequestRecord* record) {
    RequestRecord* head = returned_.load(std::memory_order_relaxed);
    do {
      record->next = head;
    } while (!returned_.compare_exchange_weak(head, record, std::memory_order_release, std::memory_order_relaxed));
  }

 private:
  static constexpr std::size_t kChunk = 64;
  void grow() {
    chunks_.push_back(std::make_unique<RequestRecord[]>(kChunk));
    for (std::size_t i = 0; i < kChunk; ++i) {
      chunks_.back()[i].next = free_;
      free_ = &chunks_.back()[i];
    }
  }

  RequestRecord* free_ = nullptr;
  std::vector<std::unique_ptr<RequestRecord[]>> chunks_;
  alignas(64) std::atomic<RequestRecord*> returned_{nullptr};
};

/// For each request that a shard has open, whether its caller is gone. Cells never move, so other threads may look.
/// Threads: cell() and set() on the shard's thread.
class CancellationTable {
 public:
  const std::atomic<std::uint32_t>* cell(std::uint32_t index) { return at(index); }
  void set(protocol::RequestId id) { at(id.index)->store(id.generation, std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kChunk = 256;
  std::atomic<std::uint32_t>* at(std::uint32_t index) {
    while (index / kChunk >= chunks_.size()) chunks_.push_back(std::make_unique<std::atomic<std::uint32_t>[]>(kChunk));
    return &chunks_[index / kChunk][index % kChunk];
  }
  std::vector<std::unique_ptr<std::atomic<std::uint32_t>[]>> chunks_;
};

}  // namespace homa::runtime
