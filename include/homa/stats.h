// Counters of a client or server.
#pragma once

#include <cstdint>
#include <vector>

namespace homa {

/// One counter; name and meaning are literals. Monotonic since the start, summed over all shards.
struct Counter {
  const char* name = "";
  const char* meaning = "";
  std::uint64_t value = 0;
};

using Stats = std::vector<Counter>;

}  // namespace homa
