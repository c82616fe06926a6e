#include "signals.h"

#include <signal.h>
#include <unistd.h>

namespace homa::tools {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler writes it");

void on_signal(int) {
  stop = true;
}

void install() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // system calls are interrupted on purpose: no SA_RESTART
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

const std::atomic<bool>& stop_requested() {
  static const bool installed = (install(), true);
  (void)installed;
  return stop;
}

void wait_for_stop() {
  constexpr useconds_t kSlice = 50'000;  // the signal may arrive between the test and the sleep
  while (!stop_requested()) ::usleep(kSlice);
}

}  // namespace homa::tools
