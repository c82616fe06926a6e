// A move-only function object with room inside for a few captured pointers, so that a call allocates nothing for it.
//
// Not safe for concurrent use; may be moved to, run and destroyed on another thread than the one that made it.
#pragma once

#include <cassert>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace homa {

template <typename Signature>
class UniqueFunction;

/// Captures up to kInlineBytes live inside; bigger ones on the heap. Empty when default-constructed or moved from.
template <typename R, typename... Arguments>
class UniqueFunction<R(Arguments...)> {
 public:
  static constexpr std::size_t kInlineBytes = 48;

  UniqueFunction() = default;
  UniqueFunction(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)

  template <typename F>
  requires(!std::is_same_v<std::decay_t<F>, UniqueFunction> && std::is_invocable_r_v<R, std::decay_t<F>&, Arguments...>)
      // NOLINTNEXTLINE: lambdas are passed where this is expected; the constraint keeps moves out
      UniqueFunction(F&& function) {
    using Stored = std::decay_t<F>;
    if constexpr (fits<Stored>()) {
      ::new (static_cast<void*>(storage_)) Stored(std::forward<F>(function));
      operations_ = &kInline<Stored>;
    } else {
      ::new (static_cast<void*>(storage_)) Stored*(new Stored(std::forward<F>(function)));
      operations_ = &kOnHeap<Stored>;
    }
  }
  UniqueFunction(UniqueFunction&& other) noexcept { take(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~UniqueFunction() { reset(); }

  explicit operator bool() const { return operations_ != nullptr; }
  /// Precondition: not empty.
  R operator()(Arguments... arguments) {
    assert(operations_ != nullptr);
    return operations_->invoke(storage_, std::forward<Arguments>(arguments)...);
  }
  /// Destroys what was captured; empty afterwards.
  void reset() {
    if (operations_ != nullptr) std::exchange(operations_, nullptr)->destroy(storage_);
  }

 private:
  struct Operations {
    R (*invoke)(void* at, Arguments&&... arguments);
    void (*move)(void* from, void* to);  ///< leaves nothing to destroy at `from`
    void (*destroy)(void* at);
  };

  template <typename F>
  static constexpr bool fits() {
    return sizeof(F) <= kInlineBytes && alignof(F) <= alignof(std::max_align_t) &&
           std::is_nothrow_move_constructible_v<F>;
  }

  template <typename F>
  static constexpr Operations kInline = {[](void* at, Arguments&&... arguments) -> R {
                                           return (*static_cast<F*>(at))(std::forward<Arguments>(arguments)...);
                                         },
                                         [](void* from, void* to) {
                                           ::new (to) F(std::move(*static_cast<F*>(from)));
                                           static_cast<F*>(from)->~F();
                                         },
                                         [](void* at) { static_cast<F*>(at)->~F(); }};

  template <typename F>
  static constexpr Operations kOnHeap = {[](void* at, Arguments&&... arguments) -> R {
                                           return (**static_cast<F**>(at))(std::forward<Arguments>(arguments)...);
                                         },
                                         [](void* from, void* to) { ::new (to) F*(*static_cast<F**>(from)); },
                                         [](void* at) { delete *static_cast<F**>(at); }};

  void take(UniqueFunction& other) {
    operations_ = std::exchange(other.operations_, nullptr);
    if (operations_ != nullptr) operations_->move(other.storage_, storage_);
  }

  const Operations* operations_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[kInlineBytes];
};

}  // namespace homa
