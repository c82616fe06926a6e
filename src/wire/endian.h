// Big-endian loads and stores at any alignment. Each compiles to one move and one byte swap (48 bits: two of each).
//
// Precondition of all: the bytes named by the width are readable (load) or writable (store) at `at`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace homa::wire {

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
constexpr std::uint16_t swap_to_wire(std::uint16_t value) {
  return value;
}
constexpr std::uint32_t swap_to_wire(std::uint32_t value) {
  return value;
}
constexpr std::uint64_t swap_to_wire(std::uint64_t value) {
  return value;
}
#else
constexpr std::uint16_t swap_to_wire(std::uint16_t value) {
  return __builtin_bswap16(value);
}
constexpr std::uint32_t swap_to_wire(std::uint32_t value) {
  return __builtin_bswap32(value);
}
constexpr std::uint64_t swap_to_wire(std::uint64_t value) {
  return __builtin_bswap64(value);
}
#endif

inline std::uint8_t load8(const std::byte* at) {
  return static_cast<std::uint8_t>(*at);
}

inline std::uint16_t load16(const std::byte* at) {
  std::uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return swap_to_wire(value);
}

inline std::uint32_t load32(const std::byte* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return swap_to_wire(value);
}

inline std::uint64_t load48(const std::byte* at) {
  return (std::uint64_t{load16(at)} << 32) | load32(at + 2);
}

inline std::uint64_t load64(const std::byte* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return swap_to_wire(value);
}

inline void store8(std::byte* at, std::uint8_t value) {
  *at = static_cast<std::byte>(value);
}

inline void store16(std::byte* at, std::uint16_t value) {
  value = swap_to_wire(value);
  std::memcpy(at, &value, sizeof value);
}

inline void store32(std::byte* at, std::uint32_t value) {
  value = swap_to_wire(value);
  std::memcpy(at, &value, sizeof value);
}

/// The upper 16 bits of `value` are not stored.
inline void store48(std::byte* at, std::uint64_t value) {
  store16(at, static_cast<std::uint16_t>(value >> 32));
  store32(at + 2, static_cast<std::uint32_t>(value));
}

inline void store64(std::byte* at, std::uint64_t value) {
  value = swap_to_wire(value);
  std::memcpy(at, &value, sizeof value);
}

}  // namespace homa::wire
