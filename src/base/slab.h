// Objects of one kind at stable addresses, named by index and generation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace homa {

/// T has members `std::uint32_t slab_index, slab_generation`, which the slab sets. Memory of freed objects is kept for
/// the next ones, so a steady population allocates nothing. Not thread-safe. Live objects are destroyed with the slab.
template <typename T>
class Slab {
 public:
  Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() {
    for (std::size_t i = 0; i < cells_; ++i) {
      if (Cell& cell = at(i); cell.live) object(cell)->~T();
    }
  }

  template <typename... Args>
  T& create(Args&&... args) {
    if (free_ == kNone) grow();
    const std::uint32_t index = free_;
    Cell& cell = at(index);
    free_ = cell.next_free;
    T* made = nullptr;
    if constexpr (sizeof...(Args) == 0) {
      made = new (cell.storage) T;  // not T(), which may zero all of a large object before it is initialised
    } else {
      made = new (cell.storage) T(std::forward<Args>(args)...);
    }
    cell.live = true;
    made->slab_index = index;
    made->slab_generation = cell.generation;
    ++live_;
    return *made;
  }
  void destroy(T& element) {
    Cell& cell = at(element.slab_index);
    HOMA_ASSERT(cell.live && object(cell) == &element);
    element.~T();
    cell.live = false;
    if (++cell.generation == 0) cell.generation = 1;
    cell.next_free = free_;
    free_ = cell.index;
    --live_;
  }
  /// The object, or null when it is gone.
  T* find(std::uint32_t index, std::uint32_t generation) {
    if (index >= cells_) return nullptr;
    Cell& cell = at(index);
    return cell.live && cell.generation == generation ? object(cell) : nullptr;
  }
  std::size_t live() const { return live_; }
  std::size_t memory_bytes() const { return chunks_.size() * kChunk * sizeof(Cell); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::size_t kChunk = 64;
  struct Cell {
    alignas(T) std::byte storage[sizeof(T)];
    std::uint32_t generation = 1;
    std::uint32_t next_free = kNone;
    std::uint32_t index = 0;
    bool live = false;
  };

  static T* object(Cell& cell) { return std::launder(reinterpret_cast<T*>(cell.storage)); }
  Cell& at(std::size_t index) { return chunks_[index / kChunk][index % kChunk]; }
  void grow() {
    chunks_.push_back(std::make_unique<Cell[]>(kChunk));
    for (std::size_t i = kChunk; i-- > 0;) {
      Cell& cell = chunks_.back()[i];
      cell.index = static_cast<std::uint32_t>(cells_ + i);
      cell.next_free = free_;
      free_ = cell.index;
    }
    cells_ += kChunk;
  }

  std::vector<std::unique_ptr<Cell[]>> chunks_;
  std::size_t cells_ = 0;
  std::size_t live_ = 0;
  std::uint32_t free_ = kNone;
};

}  // namespace homa
