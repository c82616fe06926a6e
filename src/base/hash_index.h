// Open-addressing index from a key to an object that holds the key itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/assert.h"

namespace homa {

/// Traits: `using Key; static std::uint64_t hash(const Key&, secret); static const Key& key(const T&);`
/// Objects are not owned; their keys must not change while indexed. Linear probing with backward-shift deletion, at
/// most half full. The secret keeps peers from choosing colliding keys. Not thread-safe.
template <typename T, typename Traits>
class HashIndex {
 public:
  using Key = typename Traits::Key;
  explicit HashIndex(std::uint64_t secret) : secret_(secret) {}

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return capacity_ * sizeof(T*); }

  T* find(const Key& key) const {
    if (capacity_ == 0) return nullptr;
    for (std::size_t i = home(key);; i = (i + 1) & (capacity_ - 1)) {
      T* there = table_[i];
      if (there == nullptr) return nullptr;
      if (Traits::key(*there) == key) return there;
    }
  }
  /// Precondition: the key is not indexed yet.
  void insert(T& object) {
    if ((size_ + 1) * 2 > capacity_) grow();
    place(object);
    ++size_;
  }
  /// Precondition: this very object is indexed.
  void erase(const T& object) {
    HOMA_ASSERT(capacity_ > 0);
    std::size_t hole = home(Traits::key(object));
    while (table_[hole] != &object) {
      HOMA_ASSERT(table_[hole] != nullptr);
      hole = (hole + 1) & (capacity_ - 1);
    }
    table_[hole] = nullptr;
    --size_;
    for (std::size_t i = (hole + 1) & (capacity_ - 1); table_[i] != nullptr; i = (i + 1) & (capacity_ - 1)) {
      const std::size_t wanted = home(Traits::key(*table_[i]));
      // Move back unless its home lies in (hole, i], cyclically.
      if (((i - wanted) & (capacity_ - 1)) >= ((i - hole) & (capacity_ - 1))) {
        table_[hole] = table_[i];
        table_[i] = nullptr;
        hole = i;
      }
    }
  }

 private:
  static constexpr std::size_t kInitialCapacity = 16;
  std::size_t home(const Key& key) const { return Traits::hash(key, secret_) & (capacity_ - 1); }
  void place(T& object) {
    std::size_t i = home(Traits::key(object));
    while (table_[i] != nullptr) i = (i + 1) & (capacity_ - 1);
    table_[i] = &object;
  }
  void grow() {
    auto old = std::move(table_);
    const std::size_t old_capacity = capacity_;
    capacity_ = capacity_ == 0 ? kInitialCapacity : capacity_ * 2;
    table_ = std::make_unique<T*[]>(capacity_);
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i] != nullptr) place(*old[i]);
    }
  }

  std::unique_ptr<T*[]> table_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::uint64_t secret_;
};

}  // namespace homa
