// A value, or one line that says why there is none and how to mend it.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace homa::simulation {

/// Exactly one of `value` and `error` is there.
template <typename T>
struct [[nodiscard]] Outcome {
  std::optional<T> value;
  std::string error;

  static Outcome of(T value) { return {std::move(value), {}}; }
  static Outcome failure(std::string error) { return {std::nullopt, std::move(error)}; }
  explicit operator bool() const { return value.has_value(); }
  T& operator*() { return *value; }
  const T& operator*() const { return *value; }
  T* operator->() { return &*value; }
  const T* operator->() const { return &*value; }
};

}  // namespace homa::simulation
