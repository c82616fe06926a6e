// Assertions of our own invariants. They stay on in production; nothing from the network or environment reaches them.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace homa {

[[noreturn]] inline void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "libhoma: broken invariant: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace homa

#define HOMA_ASSERT(condition) \
  (__builtin_expect(!!(condition), 1) ? static_cast<void>(0) : ::homa::assertion_failed(#condition, __FILE__, __LINE__))
