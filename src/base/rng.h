// Seeded random numbers. Not for secrets: what an attacker must not guess is seeded from the kernel by src/runtime.
#pragma once

#include <cstdint>

#include "base/address.h"

namespace homa {

/// xoshiro256** (Blackman and Vigna, 2018): all state from one 64-bit seed, so a seed replays a whole run.
class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) {
    for (auto& word : state_) word = mix64(seed += 0x9e3779b97f4a7c15ULL);
  }
  constexpr std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  /// Uniform in [0, bound). Precondition: bound > 0. The bias of the multiply-shift is below 2^-32 for our bounds.
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(__extension__(static_cast<unsigned __int128>(next()) * bound) >> 64);
  }
  /// Uniform in [0, 1).
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  constexpr bool chance(double probability) { return unit() < probability; }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::uint64_t state_[4]{};
};

}  // namespace homa
