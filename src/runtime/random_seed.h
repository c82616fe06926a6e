// Seeds that an attacker cannot guess.
#pragma once

#include <cstdint>

namespace homa::runtime {

/// 64 bits from the kernel's generator, never 0. Any thread.
std::uint64_t random_seed();

}  // namespace homa::runtime
