#include "net/wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace homa::net {

Result<Wakeup> Wakeup::create() {
  const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd < 0) return interpret_open_error(errno, "create an eventfd");
  return Wakeup(fd);
}

Wakeup::Wakeup(Wakeup&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Wakeup& Wakeup::operator=(Wakeup&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Wakeup::~Wakeup() {
  if (fd_ >= 0) ::close(fd_);
}

void Wakeup::signal() const {
  const std::uint64_t one = 1;
  // The only failure is a counter that is full, and then it is readable already.
  [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof(one));
}

bool Wakeup::clear() const {
  std::uint64_t count = 0;
  return ::read(fd_, &count, sizeof(count)) == static_cast<ssize_t>(sizeof(count));
}

}  // namespace homa::net
