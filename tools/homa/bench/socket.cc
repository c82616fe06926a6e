#include "bench/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <fmt/format.h>

#include "failure.h"
#include "homa/address.h"
#include "parse.h"

namespace homa::tools {
namespace {

[[noreturn]] void fail(const char* doing, const Address& address) {
  const int error = errno;
  const std::string where = to_string(address);
  switch (error) {
    case EADDRINUSE:
      throw usage_failure(
          fmt::format("cannot {} {}: the port is in use; choose another, or end its owner (ss -lptun)", doing, where));
    case EADDRNOTAVAIL:
      throw usage_failure(fmt::format("cannot {} {}: not an address of this host; see 'ip address'", doing, where));
    case EACCES:
    case EPERM:
      throw usage_failure(fmt::format("cannot {} {}: no permission; use a port above 1023, or root", doing, where));
    case ECONNREFUSED:
      throw Failure(fmt::format("cannot {} {}: nobody listens there; start 'homa bench serve' first", doing, where));
    default:
      throw Failure(fmt::format("cannot {} {}: {}", doing, where, std::strerror(error)));
  }
}

/// Any address of this host, when `where` names none.
bool is_any(const Address& where) {
  return where.host == HostAddress{};
}

FileDescriptor open_socket(const Address& where, int type) {
  const int family = where.host.is_v4() ? AF_INET : AF_INET6;
  FileDescriptor socket(::socket(family, type | SOCK_CLOEXEC, 0));
  if (!socket.valid()) fail("open a socket for", where);
  return socket;
}

void set_nonblocking(const FileDescriptor& socket) {
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
}

FileDescriptor bind_socket(const Address& where, int type) {
  FileDescriptor socket = open_socket(where, type);
  if (!where.host.is_v4()) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, is_any(where) ? 0 : 1, "IPV6_V6ONLY");
  if (type == SOCK_STREAM) set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  const SocketAddress address = to_socket_address(where);
  if (::bind(socket.get(), address.get(), address.length) != 0) fail("listen on", where);
  set_nonblocking(socket);
  return socket;
}

FileDescriptor connect_socket(const Address& where, int type) {
  FileDescriptor socket = open_socket(where, type);
  const SocketAddress address = to_socket_address(where);
  if (::connect(socket.get(), address.get(), address.length) != 0) fail("connect to", where);
  set_nonblocking(socket);
  return socket;
}

Address from_storage(const sockaddr_storage& storage) {
  Address result;
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    const auto* octets = reinterpret_cast<const std::uint8_t*>(&v4.sin_addr);
    result.host = HostAddress::v4(octets[0], octets[1], octets[2], octets[3]);
    result.port = ntohs(v4.sin_port);
  } else {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage, sizeof v6);
    std::memcpy(result.host.ip.data(), &v6.sin6_addr, 16);
    result.host.scope = v6.sin6_scope_id;
    result.port = ntohs(v6.sin6_port);
  }
  return result;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (value_ >= 0) ::close(value_);
}

SocketAddress to_socket_address(const Address& address) {
  SocketAddress result;
  if (address.host.is_v4()) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    std::memcpy(&v4.sin_addr, address.host.ip.data() + 12, 4);
    std::memcpy(&result.storage, &v4, sizeof v4);
    result.length = sizeof v4;
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    v6.sin6_scope_id = address.host.scope;
    std::memcpy(&v6.sin6_addr, address.host.ip.data(), 16);
    std::memcpy(&result.storage, &v6, sizeof v6);
    result.length = sizeof v6;
  }
  return result;
}

Address local_address(const FileDescriptor& socket) {
  SocketAddress address;
  address.length = sizeof address.storage;
  ::getsockname(socket.get(), address.get(), &address.length);
  return from_storage(address.storage);
}

Address peer_address(const FileDescriptor& socket) {
  SocketAddress address;
  address.length = sizeof address.storage;
  ::getpeername(socket.get(), address.get(), &address.length);
  return from_storage(address.storage);
}

FileDescriptor listen_tcp(const Address& where) {
  FileDescriptor socket = bind_socket(where, SOCK_STREAM);
  if (::listen(socket.get(), 128) != 0) fail("listen on", where);
  return socket;
}

FileDescriptor bind_udp(const Address& where) {
  return bind_socket(where, SOCK_DGRAM);
}
FileDescriptor connect_tcp(const Address& where) {
  return connect_socket(where, SOCK_STREAM);
}
FileDescriptor connect_udp(const Address& where) {
  return connect_socket(where, SOCK_DGRAM);
}

void set_option(const FileDescriptor& socket, int level, int name, int value, const char* what) {
  if (::setsockopt(socket.get(), level, name, &value, sizeof value) != 0) {
    throw Failure(fmt::format("cannot set {}: {}", what, std::strerror(errno)));
  }
}

void set_buffers(const FileDescriptor& socket, int bytes) {
  for (const auto& [force, ask] : {std::pair{SO_RCVBUFFORCE, SO_RCVBUF}, std::pair{SO_SNDBUFFORCE, SO_SNDBUF}}) {
    if (::setsockopt(socket.get(), SOL_SOCKET, force, &bytes, sizeof bytes) == 0) continue;
    ::setsockopt(socket.get(), SOL_SOCKET, ask, &bytes, sizeof bytes);  // the system may give less
  }
}

Time now() {
  timespec at{};
  ::clock_gettime(CLOCK_MONOTONIC, &at);
  return Time(Duration(at.tv_sec * 1'000'000'000LL + at.tv_nsec));
}

void wait_ready(pollfd* sockets, std::size_t count, Duration most) {
  const auto nanoseconds = std::max<Duration::rep>(most.count(), 0);
  const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  ::ppoll(sockets, count, &timeout, nullptr);
}

}  // namespace homa::tools
