// Plain sockets for the bench peers. Failures here are failures of the command: they throw.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <utility>

#include "base/address.h"
#include "base/time.h"

namespace homa::tools {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int value) : value_(value) {}
  FileDescriptor(FileDescriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~FileDescriptor();
  int get() const { return value_; }
  bool valid() const { return value_ >= 0; }

 private:
  int value_ = -1;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress to_socket_address(const Address& address);
Address local_address(const FileDescriptor& socket);
Address peer_address(const FileDescriptor& socket);

/// A non-blocking socket bound to `where` (all zero: every address of both families). Ports are never shared.
FileDescriptor listen_tcp(const Address& where);
FileDescriptor bind_udp(const Address& where);
/// Blocks until connected, then non-blocking.
FileDescriptor connect_tcp(const Address& where);
FileDescriptor connect_udp(const Address& where);

void set_option(const FileDescriptor& socket, int level, int name, int value, const char* what);
/// As much buffer as the system gives, root beyond net.core.*mem_max.
void set_buffers(const FileDescriptor& socket, int bytes);

/// The monotonic clock.
Time now();

/// Sleeps until one of the sockets is ready or `most` has passed.
void wait_ready(pollfd* sockets, std::size_t count, Duration most);

}  // namespace homa::tools
