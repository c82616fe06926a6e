#include "progress.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>

#include <fmt/format.h>

namespace homa::tools {
namespace {

constexpr Duration kQuiet = 2s;
constexpr Duration kRefresh = 250ms;

Time monotonic_now() {
  timespec at{};
  ::clock_gettime(CLOCK_MONOTONIC, &at);
  return Time(Duration(at.tv_sec * 1'000'000'000LL + at.tv_nsec));
}

}  // namespace

Progress::Progress() : begin_(monotonic_now()), next_(begin_ + kQuiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

Duration Progress::elapsed() const {
  return monotonic_now() - begin_;
}

bool Progress::due() {
  if (!terminal_) return false;
  const Time at = monotonic_now();
  if (at < next_) return false;
  next_ = at + kRefresh;
  return true;
}

void Progress::show(const std::string& text) {
  shown_ = true;
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
}

std::string human_bytes(double bytes) {
  if (bytes < 1000) return fmt::format("{:.0f} B", bytes);
  const char* const units[] = {"kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  for (bytes /= 1000; bytes >= 999.95 && unit < 4; ++unit) bytes /= 1000;
  return fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string human_time(double nanoseconds) {
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return fmt::format("{:.2f} ms", nanoseconds / 1e6);
  return fmt::format("{:.2f} s", nanoseconds / 1e9);
}

}  // namespace homa::tools
