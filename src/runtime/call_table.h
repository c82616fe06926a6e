// The operations that a shard has under way: starts them, remembers those that must wait, and ends them.
//
// Threads: the shard's. Ownership: operations come from the link's pool and go back to it here; a blocked caller's
// operation is the one exception, it goes back when the caller has read the outcome.
#pragma once

#include <cstdint>
#include <deque>

#include "protocol/endpoint.h"
#include "runtime/operation.h"
#include "runtime/shard_link.h"

namespace homa::runtime {

class CallTable {
 public:
  CallTable(ShardLink& link, protocol::Endpoint& endpoint) : link_(link), endpoint_(endpoint) {}

  /// Starts a call, now or not at all. On an error the operation stays the caller's, unchanged.
  protocol::StartError try_start(Operation& operation, Time now);
  /// Starts a call, now or when there is room. Takes the operation; errors end it.
  void start(Operation& operation, Time now);
  void cancel(std::uint32_t index, std::uint64_t generation, Time now);
  /// Takes the operation. False: the caller of the request had gone.
  bool reply(protocol::RequestId request, Operation& operation, Time now);

  /// The events of the protocol that are about operations.
  void on_call_finished(const protocol::Event& event);
  void on_payload_released(const protocol::Event& event);
  void on_writable(const protocol::Event& event, Time now);

  /// Ends calls that waited for room until their deadline. When to be called again, or kNever.
  void expire(Time now);
  Time next_deadline() const { return earliest_waiting_deadline_; }

  /// Room was lacking and no `writable` event came since.
  bool blocked() const { return blocked_; }
  /// Ends an operation that the shard never started.
  void fail(Operation& operation, ErrorCode code);
  /// Ends calls that wait for room.
  void end_waiting();
  /// Ends everything that is still under way: the protocol endpoint is gone.
  void end_all();

 private:
  void link_up(Operation& operation);
  void unlink(Operation& operation);
  void finish(Operation& operation, const protocol::Event& end);
  void settle(Operation& operation);
  bool others_wait_for(const Address& server) const;

  ShardLink& link_;
  protocol::Endpoint& endpoint_;
  Operation* under_way_ = nullptr;
  std::deque<Operation*> waiting_;
  Time earliest_waiting_deadline_ = kNever;
  bool blocked_ = false;
};

}  // namespace homa::runtime
