// Doubly linked lists through members of the elements: no allocation, removal in constant time.
#pragma once

#include "base/assert.h"

namespace homa {

template <typename T>
struct ListHook {
  T* previous = nullptr;
  T* next = nullptr;
  bool linked = false;
};

/// Elements are not owned. An element is on at most one list per hook. Not thread-safe.
template <typename T, ListHook<T> T::*Hook>
class IntrusiveList {
 public:
  bool empty() const { return front_ == nullptr; }
  T* front() const { return front_; }
  std::size_t size() const { return size_; }
  static T* next(const T& element) { return (element.*Hook).next; }
  static bool contains(const T& element) { return (element.*Hook).linked; }

  void push_back(T& element) {
    ListHook<T>& hook = element.*Hook;
    HOMA_ASSERT(!hook.linked);
    hook = {back_, nullptr, true};
    (back_ != nullptr ? (back_->*Hook).next : front_) = &element;
    back_ = &element;
    ++size_;
  }
  void push_front(T& element) {
    ListHook<T>& hook = element.*Hook;
    HOMA_ASSERT(!hook.linked);
    hook = {nullptr, front_, true};
    (front_ != nullptr ? (front_->*Hook).previous : back_) = &element;
    front_ = &element;
    ++size_;
  }
  void remove(T& element) {
    ListHook<T>& hook = element.*Hook;
    HOMA_ASSERT(hook.linked);
    (hook.previous != nullptr ? (hook.previous->*Hook).next : front_) = hook.next;
    (hook.next != nullptr ? (hook.next->*Hook).previous : back_) = hook.previous;
    hook = {};
    --size_;
  }
  /// Removes the element if it is on the list.
  void discard(T& element) {
    if (contains(element)) remove(element);
  }
  T* pop_front() {
    T* element = front_;
    if (element != nullptr) remove(*element);
    return element;
  }

 private:
  T* front_ = nullptr;
  T* back_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace homa
