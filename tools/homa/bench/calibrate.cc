#include "bench/calibrate.h"

#include <cstring>
#include <vector>

#include "base/rng.h"
#include "bench/socket.h"

namespace homa::tools {
namespace {

/// Makes the compiler believe that `pointer`'s target is read.
void keep(const void* pointer) {
  asm volatile("" : : "r"(pointer) : "memory");
}

}  // namespace

Calibration calibrate() {
  Calibration result;
  constexpr int kSteps = 10'000'000;
  std::uint64_t value = 1;
  Time begin = now();
  for (int i = 0; i < kSteps; ++i) value = mix64(value);
  keep(&value);
  result.alu_nanoseconds = static_cast<double>((now() - begin).count()) / kSteps;

  constexpr std::size_t kBytes = 32 << 20;
  constexpr int kCopies = 10;
  std::vector<char> from(kBytes, 'x');
  std::vector<char> to(kBytes, 'y');
  begin = now();
  for (int i = 0; i < kCopies; ++i) {
    std::memcpy(to.data(), from.data(), kBytes);
    keep(to.data());
  }
  result.copy_gigabytes = static_cast<double>(kBytes) * kCopies / static_cast<double>((now() - begin).count());
  return result;
}

}  // namespace homa::tools
