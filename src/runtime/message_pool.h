// Memory of received messages: size classes with free lists, so that in steady state nothing is asked from the system.
//
// Small messages (up to kMaxSmall) are carved from chunks that the pool keeps; larger ones are mapped one by one, so
// that pages are committed as data arrives, and a bounded amount of them is kept warm for the next.
//
// Threads: the owner's thread only, except push_returned(), which any thread may call and which takes no lock.
// Ownership: the pool owns all memory and must outlive every message.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/endpoint.h"

namespace homa::runtime {

class MessagePool final : public protocol::BufferSource {
 public:
  static constexpr std::uint64_t kMinSmall = 64;
  static constexpr std::uint64_t kMaxSmall = 64 * 1024;
  /// Bytes of large messages that stay mapped without being used: some ten of 10 MB.
  static constexpr std::uint64_t kMaxWarmBytes = std::uint64_t{128} << 20;

  MessagePool() = default;
  ~MessagePool() override;
  MessagePool(const MessagePool&) = delete;
  MessagePool& operator=(const MessagePool&) = delete;

  std::byte* allocate(std::uint64_t length) override;
  void release(std::byte* data, std::uint64_t length) override;

  /// Any thread: marks memory from allocate() as no longer wanted. It counts as released when the owner collects it.
  void push_returned(std::byte* data);
  bool has_returned() const { return returned_.load(std::memory_order_acquire) != nullptr; }
  /// Gives visit(data, length) for all that was pushed; visit is to call release(), now or later.
  template <typename Visitor>
  bool collect_returned(Visitor&& visit) {
    if (!has_returned()) return false;
    Block* block = returned_.exchange(nullptr, std::memory_order_acquire);
    while (block != nullptr) {
      Block* next = block->next;  // before visit, which may hand the block out again
      visit(block->data(), block->length);
      block = next;
    }
    return true;
  }

  /// Bytes got from the system.
  std::uint64_t reserved_bytes() const { return reserved_bytes_; }

 private:
  /// In front of the data; a cache line, so that data is aligned for copying.
  struct alignas(64) Block {
    Block* next = nullptr;
    std::uint64_t length = 0;        ///< as asked for
    std::uint64_t mapped_bytes = 0;  ///< 0: part of a chunk
    std::uint64_t touched = 0;       ///< large blocks: the longest message that was in it
    std::uint32_t size_class = 0;
    std::byte* data() { return reinterpret_cast<std::byte*>(this) + sizeof(Block); }
    static Block* of(std::byte* data) { return reinterpret_cast<Block*>(data - sizeof(Block)); }
  };
  struct Mapping {
    void* at;
    std::size_t bytes;
  };
  static constexpr std::size_t kClasses = 48;  // powers of two: 2^6 .. beyond every message length
  static constexpr std::size_t kChunkBytes = 256 * 1024;

  static std::uint32_t class_of(std::uint64_t length);
  static std::uint64_t capacity_of(std::uint32_t size_class) { return kMinSmall << size_class; }
  bool carve_chunk(std::uint32_t size_class);
  Block* map_large(std::uint32_t size_class);

  std::array<Block*, kClasses> free_{};
  std::vector<Mapping> chunks_;
  std::uint64_t warm_bytes_ = 0;
  std::uint64_t reserved_bytes_ = 0;
  alignas(64) std::atomic<Block*> returned_{nullptr};
};

}  // namespace homa::runtime
