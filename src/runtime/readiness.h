// One descriptor that stands for everything a caller-driven shard waits for, to be put into the application's own loop.
//
// Threads: the shard's; fd() may be polled from any. Ownership: owns its descriptors, not those that it watches.
#pragma once

#include <optional>

#include "base/time.h"

namespace homa::runtime {

class Readiness {
 public:
  /// Nothing when the system refuses descriptors.
  static std::optional<Readiness> create(int socket, int wakeup);
  Readiness(Readiness&& other) noexcept;
  Readiness& operator=(Readiness&&) = delete;
  ~Readiness();

  int fd() const { return epoll_; }
  /// Readable at `until` too (kNever: no time), and when the socket is writable if asked.
  void arm(Time until, bool until_writable);

 private:
  Readiness(int epoll, int timer, int socket) : epoll_(epoll), timer_(timer), socket_(socket) {}
  int epoll_;
  int timer_;
  int socket_;
  Time armed_ = kNever;
  bool writable_ = false;
};

}  // namespace homa::runtime
