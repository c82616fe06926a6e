// Wakes a thread that sleeps in poll().
//
// Thread rule: signal() from any thread, clear() from the one that sleeps. Ownership rule: owns its descriptor.
#pragma once

#include "net/result.h"

namespace homa::net {

class Wakeup {
 public:
  static Result<Wakeup> create();
  Wakeup(Wakeup&& other) noexcept;
  Wakeup& operator=(Wakeup&& other) noexcept;
  ~Wakeup();

  /// Readable after signal() until clear().
  int fd() const { return fd_; }
  /// Never blocks; signals before a clear() are one.
  void signal() const;
  /// Returns whether there was a signal.
  bool clear() const;

 private:
  explicit Wakeup(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace homa::net
