#include "runtime/message_pool.h"

#include <sys/mman.h>

#include <bit>
#include <cassert>
#include <new>

namespace homa::runtime {
namespace {

void* map_memory(std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

}  // namespace

MessagePool::~MessagePool() {
  // Large blocks wait in free lists or on the returned stack; chunks hold all small ones.
  const auto unmap_large = [](Block* block) {
    while (block != nullptr) {
      Block* next = block->next;
      if (block->mapped_bytes != 0) munmap(block, block->mapped_bytes);
      block = next;
    }
  };
  unmap_large(returned_.load(std::memory_order_acquire));
  for (Block* list : free_) unmap_large(list);
  for (const Mapping& chunk : chunks_) munmap(chunk.at, chunk.bytes);
}

std::uint32_t MessagePool::class_of(std::uint64_t length) {
  if (length <= kMinSmall) return 0;
  return static_cast<std::uint32_t>(std::bit_width((length - 1) / kMinSmall));
}

std::byte* MessagePool::allocate(std::uint64_t length) {
  assert(length > 0);
  const std::uint32_t size_class = class_of(length);
  if (size_class >= kClasses) return nullptr;
  Block* block = free_[size_class];
  if (block == nullptr) {
    if (length > kMaxSmall) {
      block = map_large(size_class);
      if (block == nullptr) return nullptr;
    } else {
      if (!carve_chunk(size_class)) return nullptr;
      block = free_[size_class];
    }
  } else if (block->mapped_bytes != 0) {
    warm_bytes_ -= block->touched;
  }
  if (block == free_[size_class]) free_[size_class] = block->next;
  block->next = nullptr;
  block->length = length;
  if (block->mapped_bytes != 0 && length > block->touched) block->touched = length;
  return block->data();
}

void MessagePool::release(std::byte* data, std::uint64_t length) {
  Block* block = Block::of(data);
  assert(block->length == length);
  static_cast<void>(length);
  if (block->mapped_bytes != 0) {
    if (warm_bytes_ + block->touched > kMaxWarmBytes) {
      reserved_bytes_ -= block->mapped_bytes;
      munmap(block, block->mapped_bytes);
      return;
    }
    warm_bytes_ += block->touched;
  }
  block->next = free_[block->size_class];
  free_[block->size_class] = block;
}

void MessagePool::push_returned(std::byte* data) {
  Block* block = Block::of(data);
  Block* head = returned_.load(std::memory_order_relaxed);
  do {
    block->next = head;
  } while (!returned_.compare_exchange_weak(head, block, std::memory_order_seq_cst, std::memory_order_relaxed));
}

bool MessagePool::carve_chunk(std::uint32_t size_class) {
  void* at = map_memory(kChunkBytes);
  if (at == nullptr) return false;
  chunks_.push_back({at, kChunkBytes});
  reserved_bytes_ += kChunkBytes;
  const std::size_t stride = sizeof(Block) + capacity_of(size_class);
  static_assert(sizeof(Block) + kMaxSmall <= kChunkBytes);
  for (std::size_t offset = 0; offset + stride <= kChunkBytes; offset += stride) {
    auto* block = ::new (static_cast<std::byte*>(at) + offset) Block;
    block->size_class = size_class;
    block->next = free_[size_class];
    free_[size_class] = block;
  }
  return true;
}

MessagePool::Block* MessagePool::map_large(std::uint32_t size_class) {
  const std::size_t bytes = sizeof(Block) + capacity_of(size_class);
  void* at = map_memory(bytes);
  if (at == nullptr) return nullptr;
  reserved_bytes_ += bytes;
  auto* block = ::new (at) Block;
  block->size_class = size_class;
  block->mapped_bytes = bytes;
  return block;
}

}  // namespace homa::runtime
