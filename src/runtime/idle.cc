#include "runtime/idle.h"

#include <poll.h>

#include "net/clock.h"

namespace homa::runtime {

Idle::Woken Idle::wait(Time now, Time until, bool until_writable) {
  Woken woken;
  if (spins(now)) return woken;
  if (!link_.prepare_sleep()) return woken;
  woken.slept = true;

  timespec timeout{};
  timespec* limit = nullptr;
  if (until != kNever) {
    const Duration rest = std::max(until - net::now(), Duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(rest);
    timeout.tv_sec = seconds.count();
    timeout.tv_nsec = (rest - seconds).count();
    limit = &timeout;
  }
  pollfd descriptors[2] = {{socket_, static_cast<short>(until_writable ? POLLIN | POLLOUT : POLLIN), 0},
                           {link_.wakeup_fd(), POLLIN, 0}};
  const int ready = ppoll(descriptors, 2, limit, nullptr);  // EINTR is as good as a wake-up
  woken.by_thread = ready > 0 && (descriptors[1].revents & POLLIN) != 0;
  woken.socket_error = ready > 0 && (descriptors[0].revents & POLLERR) != 0;
  link_.end_sleep(woken.by_thread);
  return woken;
}

}  // namespace homa::runtime
