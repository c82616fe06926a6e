#include "runtime/readiness.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <utility>

namespace homa::runtime {
namespace {

bool watch(int epoll, int operation, int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(epoll, operation, fd, &event) == 0;
}

}  // namespace

std::optional<Readiness> Readiness::create(int socket, int wakeup) {
  Readiness readiness(epoll_create1(EPOLL_CLOEXEC), timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC),
                      socket);
  if (readiness.epoll_ < 0 || readiness.timer_ < 0) return std::nullopt;
  const bool all = watch(readiness.epoll_, EPOLL_CTL_ADD, socket, EPOLLIN) &&
                   watch(readiness.epoll_, EPOLL_CTL_ADD, wakeup, EPOLLIN) &&
                   watch(readiness.epoll_, EPOLL_CTL_ADD, readiness.timer_, EPOLLIN);
  if (!all) return std::nullopt;
  return readiness;
}

Readiness::Readiness(Readiness&& other) noexcept
    : epoll_(std::exchange(other.epoll_, -1)),
      timer_(std::exchange(other.timer_, -1)),
      socket_(other.socket_),
      armed_(other.armed_),
      writable_(other.writable_) {}

Readiness::~Readiness() {
  if (epoll_ >= 0) close(epoll_);
  if (timer_ >= 0) close(timer_);
}

void Readiness::arm(Time until, bool until_writable) {
  if (until_writable != writable_) {
    writable_ = until_writable;
    watch(epoll_, EPOLL_CTL_MOD, socket_, until_writable ? EPOLLIN | EPOLLOUT : EPOLLIN);
  }
  if (until == armed_) return;  // an expired time differs from the next one; kNever disarms
  armed_ = until;
  itimerspec spec{};
  if (until != kNever) {
    const Duration at = std::max(until.time_since_epoch(), Duration(1));  // 0 would disarm
    spec.it_value.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(at).count();
    spec.it_value.tv_nsec = (at % std::chrono::seconds(1)).count();
  }
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &spec, nullptr);  // also takes back an expiry that was not read
}

}  // namespace homa::runtime
