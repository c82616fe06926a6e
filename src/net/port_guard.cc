#include "net/port_guard.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/address_text.h"
#include "net/udp_socket.h"

namespace homa::net {
namespace {

/// An abstract name: a zero byte, then text; no file, gone when the last descriptor is.
struct AbstractName {
  sockaddr_un name{};
  socklen_t size = 0;
};

AbstractName name_of(const Address& address) {
  const std::string text = "libhoma/udp/" + format(address);
  AbstractName result;
  result.name.sun_family = AF_UNIX;
  const std::size_t length = std::min(text.size(), sizeof(result.name.sun_path) - 1);
  std::memcpy(result.name.sun_path + 1, text.data(), length);
  result.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return result;
}

int unix_socket() {
  return ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

struct Holder {
  bool exists = false;
  pid_t pid = 0;  // 0: not known
};

Holder find_holder(const Address& address) {
  const int fd = unix_socket();
  if (fd < 0) return {};
  const AbstractName name = name_of(address);
  Holder holder;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&name.name), name.size) == 0) {
    holder.exists = true;
    ucred who{};
    socklen_t size = sizeof(who);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) holder.pid = who.pid;
  } else {
    holder.exists = errno == EAGAIN;  // so many asked already that its queue is full
  }
  ::close(fd);
  return holder;
}

NetError in_use(const Address& address, const Holder& holder) {
  NetError error = interpret_open_error(EADDRINUSE, "port guard " + format(address));
  error.cause = "port " + std::to_string(address.port) + " is held by another Homa endpoint";
  if (holder.pid != 0) error.cause += ", process " + std::to_string(holder.pid);
  error.cure = "choose another port, or stop that process";
  return error;
}

/// Binds without SO_REUSEPORT, which fails when anybody has the port. Gives the address with its real port.
Result<Address> probe(const Address& wanted, const PortGuard::Options& options) {
  UdpOptions plain;
  plain.v6_only = options.v6_only;
  plain.receive_buffer = plain.send_buffer = 4096;
  Result<UdpSocket> socket = UdpSocket::open(wanted, plain);
  if (!socket) return socket.error();
  return socket->local_address();
}

/// Takes the abstract name; -1 with errno.
int hold(const Address& address) {
  const int fd = unix_socket();
  if (fd < 0) return -1;
  const AbstractName name = name_of(address);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&name.name), name.size) == 0 && ::listen(fd, 8) == 0) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

}  // namespace

Result<PortGuard> PortGuard::acquire(const Address& wanted, const Options& options) {
  if (options.share) {
    if (wanted.port == 0) {
      return NetError{NetErrorKind::bad_text, 0, "port guard " + format(wanted),
                      "nobody can share a port not yet chosen", "name the port"};
    }
    const Holder holder = find_holder(wanted);
    if (holder.exists) return in_use(wanted, holder);
    return PortGuard(-1, wanted);
  }
  // A port that the kernel chooses can be snatched between the two steps: another one, then.
  constexpr int kAttempts = 16;
  for (int attempt = 1;; ++attempt) {
    Address address = wanted;
    if (wanted.port == 0) {
      const Result<Address> chosen = probe(wanted, options);
      if (!chosen) return chosen.error();
      address = *chosen;
    }
    const int fd = hold(address);
    if (fd < 0 && errno == EADDRINUSE) {
      if (wanted.port == 0 && attempt < kAttempts) continue;
      return in_use(address, find_holder(address));
    }
    if (fd < 0) return interpret_open_error(errno, "port guard " + format(address));
    PortGuard guard(fd, address);
    const Result<Address> bound = probe(address, options);
    if (bound) return guard;
    if (wanted.port == 0 && bound.error().kind == NetErrorKind::address_in_use && attempt < kAttempts) continue;
    return bound.error();
  }
}

PortGuard::PortGuard(PortGuard&& other) noexcept : fd_(std::exchange(other.fd_, -1)), address_(other.address_) {}

PortGuard& PortGuard::operator=(PortGuard&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(address_, other.address_);
  return *this;
}

PortGuard::~PortGuard() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace homa::net
