// Message content that can be checked: every byte is a function of the message's seed and the byte's offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/address.h"

namespace homa::sim {

/// The eight bytes at offset 8 * index of a message.
constexpr std::uint64_t content_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = (seed ^ index) * 0x9e3779b97f4a7c15ULL;
  x ^= x >> 29;
  return x * 0xbf58476d1ce4e5b9ULL;
}

inline void fill_content(std::uint64_t seed, std::byte* out, std::uint64_t length) {
  for (std::uint64_t at = 0; at < length; at += 8) {
    const std::uint64_t word = content_word(seed, at / 8);
    std::memcpy(out + at, &word, length - at < 8 ? length - at : 8);
  }
}

/// Offset of the first byte that differs, or `length` when all are right. Looks at bytes from `begin` on.
inline std::uint64_t first_difference(std::uint64_t seed, const std::byte* data, std::uint64_t length,
                                      std::uint64_t begin = 0) {
  for (std::uint64_t at = begin / 8 * 8; at < length; at += 8) {
    const std::uint64_t word = content_word(seed, at / 8);
    std::byte expected[8];
    std::memcpy(expected, &word, 8);
    const std::uint64_t end = length - at < 8 ? length - at : 8;
    if (at >= begin && end == 8 && std::memcmp(data + at, expected, 8) == 0) continue;
    for (std::uint64_t i = at < begin ? begin - at : 0; i < end; ++i) {
      if (data[at + i] != expected[i]) return at + i;
    }
  }
  return length;
}

}  // namespace homa::sim
