// A value or the reason why there is none. For set-up paths: the packet paths return plain statuses.
#pragma once

#include <optional>
#include <utility>

#include "net/errors.h"

namespace homa::net {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(NetError error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return value_.has_value(); }
  /// Precondition: there is a value.
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  /// Precondition: there is no value.
  const NetError& error() const { return error_; }

 private:
  std::optional<T> value_;
  NetError error_;
};

}  // namespace homa::net
