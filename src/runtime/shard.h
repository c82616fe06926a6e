// One shard: a socket, a protocol endpoint and the loop that joins them, run to completion by one thread.
//
// Threads: one at a time, the shard's own (ShardThread) or the application's. Others speak to it through its ShardLink.
// Ownership: owns the socket and the endpoint; the link and the observer outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "homa/options.h"
#include "net/udp_socket.h"
#include "protocol/endpoint.h"
#include "runtime/call_table.h"
#include "runtime/idle.h"
#include "runtime/readiness.h"
#include "runtime/receiver.h"
#include "runtime/runtime_counters.h"
#include "runtime/shard_link.h"
#include "runtime/transmitter.h"

namespace homa::runtime {

/// Takes what peers send. Called on the shard's thread, inside a turn.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  /// A request or one-way message. The observer takes the record and the link's reference in it, and gives both back
  /// by release_request() in the end.
  virtual void on_request(RequestRecord& record) = 0;
};

/// Answers are given by the functions below; any thread.
void reply(RequestRecord& record, Bytes response);
void reply(RequestRecord& record, Gather response);
void reply(RequestRecord& record, Message&& response);
void refuse(RequestRecord& record, protocol::CallStatus reason);
bool is_cancelled(const RequestRecord& record);
/// Refuses the request if it was not answered, and recycles the record.
void release_request(RequestRecord& record);

struct ShardSettings {
  protocol::Config config;
  std::uint64_t seed = 0;
  PriorityMap priorities;
  WaitMode wait = WaitMode::adaptive;
  Duration spin = 50us;
  /// All shards that share the port, in order; empty when the port is not shared.
  std::vector<ShardLink*> siblings;
};

class Shard {
 public:
  /// `observer` is null for a client.
  Shard(net::UdpSocket socket, ShardLink& link, const ShardSettings& settings, RequestObserver* observer);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  /// Does everything that can be done now. False: there was nothing.
  bool turn();
  /// Turns until something was done, or until `timeout` (negative: none) or a stop. False: nothing was done.
  bool poll(Duration timeout);
  /// Turns until a stop is asked for.
  void run();
  /// Ends all calls, tells the peers, closes the link. Called once, after the last turn.
  void finish();

  void request_stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }

  // --- used inside a turn, or between turns by the thread that drives ------------------------------------------
  protocol::StartError try_start(Operation& operation);
  void start(Operation& operation);
  void cancel(std::uint32_t index, std::uint64_t generation);
  void reply(protocol::RequestId request, Operation& operation);
  void refuse(protocol::RequestId request, protocol::CallStatus reason);
  void inject(const protocol::Datagram& datagram) { receiver_.inject(datagram, now_); }
  /// `ready` runs when a call that met would_block may be tried again; `limit` is the bound of ShardLink::pending.
  void notify_writable(UniqueFunction<void()> ready, std::uint32_t limit);

  // --- looking in ----------------------------------------------------------------------------------------------
  const Address& local_address() const { return socket_.local_address(); }
  const net::UdpSocket& socket() const { return socket_; }
  const protocol::Endpoint& endpoint() const { return endpoint_; }
  const RuntimeCounters& counters() const { return counters_; }
  ShardLink& link() { return link_; }
  /// For Drive::caller: a descriptor that is readable when turn() has something to do; -1 when the system refuses.
  int readiness_fd();

 private:
  /// Bounds one turn, so that packets and answers do not wait for a long row of handlers.
  static constexpr int kEventsPerTurn = 256;
  /// Turns that finish() makes to tell the peers goodbye.
  static constexpr int kFarewellTurns = 64;

  bool run_commands();
  void run_command(Command& command);
  bool collect_returned();
  bool dispatch_events();
  void dispatch(const protocol::Event& event);
  void on_request(const protocol::Event& event);
  void run_writable_waiters();
  void notice_shortage();
  Time next_deadline() const;
  void idle(Time until);
  void arm_readiness(bool more);
  void enter();

  ShardLink& link_;
  RequestObserver* const observer_;
  net::UdpSocket socket_;
  protocol::Endpoint endpoint_;
  RuntimeCounters counters_;
  Receiver receiver_;
  Transmitter transmitter_;
  CallTable calls_;
  Idle idle_;
  std::optional<Readiness> readiness_;

  Time now_;
  std::vector<Command> commands_;
  struct WritableWaiter {
    UniqueFunction<void()> ready;
    std::uint32_t limit = 0;
  };
  std::vector<WritableWaiter> writable_waiters_;
  bool entered_ = false;  // the application asked for something between turns
  bool stopping_ = false;
  bool finished_ = false;
  bool shortage_noticed_ = false;
};

}  // namespace homa::runtime
