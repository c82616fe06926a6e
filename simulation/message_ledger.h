// Which messages are under way, and since when: joins what a sender started with what a receiver got.
//
// The core does not say which message of the sender an arriving one is, and need not: two messages of one length
// between the same two hosts are told apart by their order only, which no statistic sees.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/assert.h"
#include "base/time.h"

namespace homa::simulation {

struct MessageRecord {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint64_t length = 0;
  std::uint64_t request = 0;  ///< of a call, whose response is `length`; 0: one-way
  Time started{};
  bool measured = false;
};

class MessageLedger {
 public:
  /// Number by which finish() knows it.
  std::uint32_t start(const MessageRecord& record) {
    const std::uint32_t number = take_entry();
    entries_[number] = {record, kNone};
    const auto [queue, is_first] = queues_.try_emplace(key_of(record), Queue{number, number});
    if (!is_first) {
      entries_[queue->second.tail].next = number;
      queue->second.tail = number;
    }
    bytes_ += record.length;
    ++count_;
    return number;
  }

  /// The oldest message between these two of that length. Precondition: there is one.
  MessageRecord arrived(std::uint32_t source, std::uint32_t destination, std::uint64_t length) {
    const auto queue = queues_.find(key_of({source, destination, length, 0, {}, false}));
    HOMA_ASSERT(queue != queues_.end());
    const std::uint32_t number = queue->second.head;
    Entry& entry = entries_[number];
    queue->second.head = entry.next;
    if (entry.next == kNone) queues_.erase(queue);
    entry.next = free_;
    free_ = number;
    bytes_ -= length;
    --count_;
    return entry.record;
  }

  std::uint64_t bytes() const { return bytes_; }  ///< of messages under way
  std::uint64_t count() const { return count_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Entry {
    MessageRecord record;
    std::uint32_t next = kNone;
  };
  struct Queue {
    std::uint32_t head;
    std::uint32_t tail;
  };
  struct Key {
    std::uint64_t hosts;
    std::uint64_t length;
    friend bool operator==(const Key& a, const Key& b) { return a.hosts == b.hosts && a.length == b.length; }
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return (key.hosts * 0x9e3779b97f4a7c15ULL) ^ (key.length * 0xc2b2ae3d27d4eb4fULL);
    }
  };
  static Key key_of(const MessageRecord& record) {
    return {std::uint64_t{record.source} << 32 | record.destination, record.length};
  }
  std::uint32_t take_entry() {
    if (free_ == kNone) {
      entries_.emplace_back();
      return static_cast<std::uint32_t>(entries_.size() - 1);
    }
    const std::uint32_t number = free_;
    free_ = entries_[number].next;
    return number;
  }

  std::vector<Entry> entries_;
  std::uint32_t free_ = kNone;
  std::unordered_map<Key, Queue, KeyHash> queues_;
  std::uint64_t bytes_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace homa::simulation
