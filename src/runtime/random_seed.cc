#include "runtime/random_seed.h"

#include <sys/random.h>

namespace homa::runtime {

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  // Up to 256 bytes come whole or not at all (getrandom(2)); before the pool is ready it waits, and a signal may end
  // that.
  while (seed == 0) static_cast<void>(getrandom(&seed, sizeof(seed), 0));
  return seed;
}

}  // namespace homa::runtime
