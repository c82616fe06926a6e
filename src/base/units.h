// Units as types: what crosses a function border says what it counts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace homa {

/// Number of priority levels that a packet can name (3 bits). Configuration may map them to fewer.
inline constexpr int kPriorityLevels = 8;

/// 0 (least urgent) .. 7 (most urgent). Also names a lane of an association, docs/wire.md section 3.
enum class Priority : std::uint8_t {};
inline constexpr Priority kLowestPriority{0};
inline constexpr Priority kControlPriority{kPriorityLevels - 1};
constexpr int index(Priority priority) {
  return static_cast<int>(priority);
}

/// Half-open range of byte offsets within one message.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  constexpr std::uint64_t length() const { return end - begin; }
  constexpr bool empty() const { return begin >= end; }
  friend constexpr bool operator==(const ByteRange& a, const ByteRange& b) {
    return a.begin == b.begin && a.end == b.end;
  }
  friend constexpr bool operator!=(const ByteRange& a, const ByteRange& b) { return !(a == b); }
};

/// A transmission rate. Zero means "not known".
class Rate {
 public:
  constexpr Rate() = default;
  static constexpr Rate bytes_per_second(std::uint64_t value) { return Rate(value); }
  static constexpr Rate gigabits_per_second(double value) { return Rate(static_cast<std::uint64_t>(value * 1e9 / 8)); }
  /// The rate at which `bytes` pass in `duration`; not known when the duration is not positive.
  static constexpr Rate of(std::uint64_t bytes, Duration duration) {
    if (duration.count() <= 0) return Rate();
    return Rate(static_cast<std::uint64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(duration.count())));
  }

  constexpr bool known() const { return value_ != 0; }
  constexpr std::uint64_t bytes_per_second() const { return value_; }
  constexpr double gigabits_per_second() const { return static_cast<double>(value_) * 8 / 1e9; }
  /// Bytes that pass in `duration`.
  constexpr std::uint64_t bytes_in(Duration duration) const {
    return static_cast<std::uint64_t>(static_cast<double>(value_) *
                                      static_cast<double>(std::max<Duration::rep>(duration.count(), 0)) / 1e9);
  }
  /// Time that `bytes` need. Precondition: known().
  constexpr Duration time_for(std::uint64_t bytes) const {
    return Duration(static_cast<Duration::rep>(static_cast<double>(bytes) * 1e9 / static_cast<double>(value_)));
  }
  constexpr Rate scaled(double factor) const {
    return Rate(static_cast<std::uint64_t>(static_cast<double>(value_) * factor));
  }
  friend constexpr bool operator==(Rate a, Rate b) { return a.value_ == b.value_; }
  friend constexpr bool operator<(Rate a, Rate b) { return a.value_ < b.value_; }

 private:
  explicit constexpr Rate(std::uint64_t value) : value_(value) {}
  std::uint64_t value_ = 0;
};

/// Two bits of the IP header, RFC 3168 section 5.
enum class Ecn : std::uint8_t { not_ect = 0, ect1 = 1, ect0 = 2, ce = 3 };

}  // namespace homa
