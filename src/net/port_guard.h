// Keeps a second process from silently joining a group of sockets that share a port.
//
// SO_REUSEPORT lets any process of the same user in, and the kernel then sends it a share of the datagrams. So before
// the first shard binds, the guard binds a socket *without* it, which fails when anybody has the port, and holds an
// abstract Unix socket named after the address (per network namespace, gone with the process) that keeps later
// processes away. Both at once leave no gap between processes that use guards.
//
// Thread rule: one thread at a time. Ownership rule: keep the guard as long as the sockets.
#pragma once

#include <string>

#include "base/address.h"
#include "net/result.h"

namespace homa::net {

class PortGuard {
 public:
  struct Options {
    bool v6_only = false;  ///< as the sockets to come
    bool share = false;    ///< join a group of other processes on purpose; refused by an unshared holder
  };

  /// Port 0: finds a free one; address() then names it, and the sockets must bind to that.
  static Result<PortGuard> acquire(const Address& wanted, const Options& options);
  static Result<PortGuard> acquire(const Address& wanted) { return acquire(wanted, Options()); }

  PortGuard(PortGuard&& other) noexcept;
  PortGuard& operator=(PortGuard&& other) noexcept;
  ~PortGuard();

  const Address& address() const { return address_; }

 private:
  PortGuard(int fd, const Address& address) : fd_(fd), address_(address) {}
  int fd_ = -1;  // -1 when shared
  Address address_;
};

}  // namespace homa::net
