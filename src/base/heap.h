// Binary heap whose elements know their place, so that a key may change or an element leave in O(log n).
#pragma once

#include <cstdint>
#include <vector>

#include "base/assert.h"

namespace homa {

struct HeapHook {
  static constexpr std::uint32_t kAbsent = 0xffffffff;
  std::uint32_t position = kAbsent;
};

/// Less(a, b) is true when a comes out first. Elements are not owned. Not thread-safe.
template <typename T, HeapHook T::*Hook, typename Less>
class Heap {
 public:
  bool empty() const { return elements_.empty(); }
  std::size_t size() const { return elements_.size(); }
  T* top() const { return elements_.empty() ? nullptr : elements_.front(); }
  static bool contains(const T& element) { return (element.*Hook).position != HeapHook::kAbsent; }
  std::size_t memory_bytes() const { return elements_.capacity() * sizeof(T*); }
  /// All elements, in no useful order.
  const std::vector<T*>& elements() const { return elements_; }

  void push(T& element) {
    HOMA_ASSERT(!contains(element));
    elements_.push_back(&element);
    sift_up(elements_.size() - 1, &element);
  }
  void remove(T& element) {
    HOMA_ASSERT(contains(element));
    const std::size_t hole = (element.*Hook).position;
    (element.*Hook).position = HeapHook::kAbsent;
    T* last = elements_.back();
    elements_.pop_back();
    if (last != &element) place(hole, last);
  }
  void discard(T& element) {
    if (contains(element)) remove(element);
  }
  /// The element's key changed.
  void update(T& element) {
    HOMA_ASSERT(contains(element));
    place((element.*Hook).position, &element);
  }
  T* pop() {
    T* element = top();
    if (element != nullptr) remove(*element);
    return element;
  }

 private:
  void put(std::size_t position, T* element) {
    elements_[position] = element;
    (element->*Hook).position = static_cast<std::uint32_t>(position);
  }
  void place(std::size_t position, T* element) {
    if (position > 0 && Less()(*element, *elements_[(position - 1) / 2])) {
      sift_up(position, element);
    } else {
      sift_down(position, element);
    }
  }
  void sift_up(std::size_t position, T* element) {
    while (position > 0) {
      const std::size_t parent = (position - 1) / 2;
      if (!Less()(*element, *elements_[parent])) break;
      put(position, elements_[parent]);
      position = parent;
    }
    put(position, element);
  }
  void sift_down(std::size_t position, T* element) {
    for (;;) {
      std::size_t child = 2 * position + 1;
      if (child >= elements_.size()) break;
      if (child + 1 < elements_.size() && Less()(*elements_[child + 1], *elements_[child])) ++child;
      if (!Less()(*elements_[child], *element)) break;
      put(position, elements_[child]);
      position = child;
    }
    put(position, element);
  }

  std::vector<T*> elements_;
};

}  // namespace homa
