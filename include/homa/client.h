// A client: starts calls and one-way messages.
//
// Threads: with Drive::own_threads every member may be called from any thread at any time; callbacks run on the
// library's threads, must not block, and may start further calls (callback form) but not destroy the client. With
// Drive::caller one thread at a time uses the client, and callbacks run inside its calls.
// Ownership: request memory is the caller's; each function says how long it is read. Responses belong to the caller.
// When the client is destroyed or closed, every call under way ends with shut_down first.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "homa/address.h"
#include "homa/callback.h"
#include "homa/error.h"
#include "homa/message.h"
#include "homa/options.h"
#include "homa/stats.h"

namespace homa {

namespace api {
class ClientCore;
}

/// Names a call of the callback form, for cancel(). Plain value; stale tokens are harmless.
struct CallToken {
  std::uint32_t shard = 0;
  std::uint32_t index = 0;
  std::uint64_t generation = 0;
};

class Client {
 public:
  /// Runs once per call: the response, or how the call ended.
  using ResponseCallback = UniqueFunction<void(Result<Message>)>;
  /// Runs once per one-way message: success means that the whole message is at the peer's application.
  using OneWayCallback = UniqueFunction<void(Result<void>)>;

  /// Opens sockets and starts threads. Errors: bad_option, no_address, address_in_use, permission_denied,
  /// system_error.
  static Result<Client> open(const ClientOptions& options);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // --- blocking: return when the call has ended ----------------------------------------------------------------
  // With Drive::caller the calling thread itself drives the protocol meanwhile. Never would_block: they wait for room,
  // until the deadline. Not to be called from a callback or handler.

  /// `request` is read until the return. Errors: all ways in which a call ends, see ErrorCode.
  Result<Message> call(const Address& server, Bytes request, const CallOptions& options = {});
  Result<Message> call(const Address& server, std::span<const Bytes> request, const CallOptions& options = {});
  Result<void> send_one_way(const Address& server, Bytes message, const CallOptions& options = {});
  Result<void> send_one_way(const Address& server, std::span<const Bytes> message, const CallOptions& options = {});

  // --- callback: return at once --------------------------------------------------------------------------------
  // On success `done` runs exactly once, later or, for what fails at once, before the return. On an error nothing was
  // started and neither `done` nor `released` runs. Errors: would_block, too_long, no_address, deadline_exceeded,
  // shut_down.

  /// `request` is copied before the return.
  Result<CallToken> call(const Address& server, Bytes request, const CallOptions& options, ResponseCallback done);
  /// Not copied: see Gather.
  Result<CallToken> call(const Address& server, Gather request, const CallOptions& options, ResponseCallback done);
  Result<CallToken> send_one_way(const Address& server, Bytes message, const CallOptions& options, OneWayCallback done);
  Result<CallToken> send_one_way(const Address& server, Gather message, const CallOptions& options,
                                 OneWayCallback done);

  /// Gives a call up: it ends with `cancelled`, unless it has ended already.
  void cancel(CallToken token);

  /// After would_block: `ready` runs once, when a call may be tried again (which may meet would_block again).
  void notify_writable(UniqueFunction<void()> ready);

  // --- Drive::caller -------------------------------------------------------------------------------------------

  /// Does what is to be done and runs callbacks; when there is nothing, waits up to `timeout` for it (as WaitMode
  /// tells). Zero: does not wait. Negative: without limit. True when anything was done.
  bool poll(Duration timeout);
  /// Becomes readable (poll, epoll) when poll(0) has something to do; owned by the client. -1 with own threads.
  int fd();

  // --- looking in ----------------------------------------------------------------------------------------------
  std::uint64_t max_message_length() const;
  /// The local address of a shard.
  Address local_address(unsigned shard = 0) const;
  Stats stats() const;

  /// Ends every call with shut_down, says goodbye to the servers, stops the threads. Also done by the destructor.
  void close();

 private:
  explicit Client(std::unique_ptr<api::ClientCore> core);
  std::unique_ptr<api::ClientCore> core_;
};

}  // namespace homa
