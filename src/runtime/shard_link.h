// The part of a shard that other threads see, and that outlives it as long as a message or request of it exists.
//
// Threads: any, except where a member says "shard". Ownership: counted references; the shard holds one, each Message
// and each Request one.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "homa/message.h"
#include "net/wakeup.h"
#include "protocol/event.h"
#include "runtime/command.h"
#include "runtime/message_pool.h"
#include "runtime/operation_pool.h"
#include "runtime/request_record.h"

namespace homa::runtime {

class ShardLink {
 public:
  /// With one reference, the caller's.
  explicit ShardLink(net::Wakeup wakeup) : wakeup_(std::move(wakeup)) {}
  ShardLink(const ShardLink&) = delete;
  ShardLink& operator=(const ShardLink&) = delete;

  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // --- commands ------------------------------------------------------------------------------------------------
  /// Hands a command to the shard and wakes it. False when the shard has ended: `command` is untouched.
  [[nodiscard]] bool post(Command&& command);
  /// Shard: takes everything posted so far; false when there is nothing.
  bool take(std::vector<Command>& out);
  /// Shard: after this post() fails. What was posted before is given to `out`.
  void close(std::vector<Command>& out);
  bool closed() const { return closed_.load(std::memory_order_acquire); }

  // --- sleeping ------------------------------------------------------------------------------------------------
  /// Shard: to be called before sleeping; false when there is work. After true, wake() makes wakeup_fd() readable.
  bool prepare_sleep();
  /// Shard: after sleeping; `signalled` when wakeup_fd() was seen readable.
  void end_sleep(bool signalled);
  /// Makes a sleeping shard look again.
  void wake();
  /// Makes wakeup_fd() readable, whoever sleeps.
  void signal_self() { wakeup_.signal(); }
  int wakeup_fd() const { return wakeup_.fd(); }

  // --- messages ------------------------------------------------------------------------------------------------
  /// Shard: makes a public Message of received memory.
  Message hand_out(const protocol::Message& message);
  /// The other way round, for Message only.
  void give_back(std::byte* data);
  /// Shard: memory is short somewhere, so that returned messages are worth waking up for.
  void want_returns() { returns_wanted_.store(true, std::memory_order_relaxed); }

  // --- whose turn it is ----------------------------------------------------------------------------------------
  /// The shard when the calling thread is inside its turn, so that it may be used directly; else null.
  Shard* shard_in_turn() const;
  /// Marks the calling thread as inside a turn of a shard. Turns of different shards nest.
  class Turn {
   public:
    Turn(const ShardLink& link, Shard& shard);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    const ShardLink* previous_link_;
    Shard* previous_shard_;
  };

  MessagePool messages;
  OperationPool operations;
  RequestPool requests;
  CancellationTable cancellations;
  /// Calls started from outside and not ended, for back-pressure.
  std::atomic<std::uint32_t> pending{0};

 private:
  ~ShardLink() = default;

  std::atomic<std::uint32_t> references_{1};
  std::atomic<bool> returns_wanted_{false};
  std::atomic<bool> sleeping_{false};
  std::atomic<bool> has_commands_{false};
  std::atomic<bool> closed_{false};
  net::Wakeup wakeup_;
  std::mutex mutex_;
  std::vector<Command> commands_;
};

}  // namespace homa::runtime
