// A server: takes requests and one-way messages at one port.
//
// Threads: with Drive::own_threads the handler runs on the library's threads, on several at a time when there are
// several shards; it must not block. Slow work goes elsewhere: a Request may be moved to any thread and answered later.
// With Drive::caller the handler runs inside run() or poll().
// Ownership: a Request owns its message; a Request that is destroyed without an answer is refused, so that no caller
// waits in vain.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "homa/address.h"
#include "homa/callback.h"
#include "homa/error.h"
#include "homa/message.h"
#include "homa/options.h"
#include "homa/stats.h"

namespace homa {

namespace api {
class ServerCore;
}
namespace runtime {
struct RequestRecord;
}

/// Why a server does not answer; the caller sees the ErrorCode named.
enum class RefuseReason : std::uint8_t {
  failed,      ///< ErrorCode::refused
  no_handler,  ///< ErrorCode::no_handler
};

/// One request, or one one-way message. Move-only. One thread at a time; any thread. May outlive the server: then
/// answers go nowhere.
class Request {
 public:
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  ~Request();

  /// The request itself. May be moved out: `Message m = std::move(request.message())`.
  Message& message();
  const Address& peer() const;
  /// When the caller gives up, time_point::max() if never.
  Clock::time_point deadline() const;
  std::uint8_t message_class() const;
  bool is_idempotent() const;
  /// Needs no answer; reply() and refuse() do nothing but give memory back.
  bool is_one_way() const;
  /// The caller is gone or gave up, or the server stopped: work for the answer is wasted.
  bool cancelled() const;

  // Each Request is answered at most once; a second answer does nothing (its `released` runs).

  /// `response` is copied.
  void reply(Bytes response);
  /// Not copied: see Gather.
  void reply(Gather response);
  /// Sends a received message back, or on, without copying it.
  void reply(Message&& response);
  /// Carries no text: the packet that says it has a fixed size and holds a code (docs/wire.md, section 3). What the
  /// caller is to read belongs into a response.
  void refuse(RefuseReason reason = RefuseReason::failed);

 private:
  friend class api::ServerCore;
  explicit Request(runtime::RequestRecord* record) : record_(record) {}
  runtime::RequestRecord* record_ = nullptr;
};

class Server {
 public:
  using Handler = std::function<void(Request)>;

  /// Binds the port and starts threads. Errors: bad_option, no_address, address_in_use, permission_denied,
  /// system_error.
  static Result<Server> start(const ServerOptions& options, Handler handler);

  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();

  /// Where it listens; the port is the one really bound.
  Address address() const;
  Stats stats() const;

  // --- Drive::caller -------------------------------------------------------------------------------------------

  /// Serves on the calling thread until stop() is called, from a handler or another thread.
  void run();
  /// As Client::poll().
  bool poll(Duration timeout);
  /// As Client::fd().
  int fd();

  /// Ends requests under way, says goodbye to the clients, stops the threads. Own threads: returns when the last
  /// handler has returned, and is not to be called from a handler. Caller-driven: makes run() return.
  /// Also done by the destructor.
  void stop();

 private:
  explicit Server(std::unique_ptr<api::ServerCore> core);
  std::unique_ptr<api::ServerCore> core_;
};

}  // namespace homa
