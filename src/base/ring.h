// A queue in one block of memory that grows by doubling and is kept for reuse.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/assert.h"

namespace homa {

/// T is default-constructible and cheap to assign. Index 0 is the front. Not thread-safe.
template <typename T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::size_t memory_bytes() const { return capacity_ * sizeof(T); }
  T& operator[](std::size_t i) { return slots_[(head_ + i) & (capacity_ - 1)]; }
  const T& operator[](std::size_t i) const { return slots_[(head_ + i) & (capacity_ - 1)]; }
  T& front() { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }

  /// The new last element, equal to T{}: to be filled in place, which large elements are cheaper by.
  T& append() {
    if (size_ == capacity_) grow();
    T& slot = slots_[(head_ + size_) & (capacity_ - 1)];
    slot = T{};
    ++size_;
    return slot;
  }
  T& push_back(T value) { return append() = std::move(value); }
  void pop_front() {
    HOMA_ASSERT(size_ > 0);
    head_ = (head_ + 1) & (capacity_ - 1);
    --size_;
  }
  void clear() { head_ = size_ = 0; }
  /// Gives memory back when empty and larger than `keep` elements.
  void shrink(std::size_t keep) {
    if (size_ != 0 || capacity_ <= keep) return;
    slots_.reset();
    head_ = capacity_ = 0;
  }

 private:
  static constexpr std::size_t kInitialCapacity = 4;
  void grow() {
    const std::size_t larger = capacity_ == 0 ? kInitialCapacity : capacity_ * 2;
    auto slots = std::make_unique<T[]>(larger);
    for (std::size_t i = 0; i < size_; ++i) slots[i] = std::move((*this)[i]);
    slots_ = std::move(slots);
    head_ = 0;
    capacity_ = larger;
  }

  std::unique_ptr<T[]> slots_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // 0 or a power of two
};

}  // namespace homa
