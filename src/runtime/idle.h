// What a shard does while there is nothing to do: spin, or sleep until the socket, another thread or a deadline.
//
// Threads: the shard's. Ownership: refers to the link and the descriptor, which outlive it.
#pragma once

#include "homa/options.h"
#include "runtime/shard_link.h"

namespace homa::runtime {

class Idle {
 public:
  Idle(ShardLink& link, int socket, WaitMode mode, Duration spin)
      : link_(link), socket_(socket), mode_(mode), spin_(spin) {}

  /// Work was done at `now`: the time of spinning starts again.
  void note_work(Time now) { last_work_ = now; }

  struct Woken {
    bool slept = false;
    bool socket_error = false;  ///< the error queue has something
    bool by_thread = false;
  };
  /// After a turn without work: look again at once. Without a pause, as each turn makes a system call.
  bool spins(Time now) const {
    return mode_ == WaitMode::busy_poll || (mode_ == WaitMode::adaptive && now - last_work_ < spin_);
  }
  /// Called after a turn without work. Returns at once while spinning, else when something may be there; a descriptor
  /// that becomes ready, a wake-up or `until` ends the sleep. kNever: no deadline.
  Woken wait(Time now, Time until, bool until_writable);

 private:
  ShardLink& link_;
  const int socket_;
  const WaitMode mode_;
  const Duration spin_;
  Time last_work_{};
};

}  // namespace homa::runtime
