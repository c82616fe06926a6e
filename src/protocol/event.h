// What the protocol tells its user, and the handles by which the user answers.
#pragma once

#include <cstdint>

#include "base/address.h"
#include "base/bytes.h"
#include "base/units.h"

namespace homa::protocol {

/// Names a slab entry; stale handles are recognised by their generation and refused, never misused.
template <typename Tag>
struct Handle {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  ///< 0: no object
  constexpr bool valid() const { return generation != 0; }
  friend constexpr bool operator==(Handle a, Handle b) { return a.index == b.index && a.generation == b.generation; }
  friend constexpr bool operator!=(Handle a, Handle b) { return !(a == b); }
};
using CallId = Handle<struct CallTag>;        ///< an RPC or one-way message that we started
using RequestId = Handle<struct RequestTag>;  ///< an RPC that a peer started and we have to answer

/// How a call ended. Only `ok` promises that the peer has the whole message (one-way) or answered (RPC).
enum class CallStatus : std::uint8_t {
  ok,
  cancelled,  ///< by our own cancel()
  deadline_exceeded,
  /// Never heard of: no answer to HELLO, or the network says that nobody is there. Not executed, except perhaps an
  /// idempotent call, which rides with the HELLO.
  peer_unreachable,
  peer_timeout,     ///< heard before, silent now; outcome unknown
  outcome_unknown,  ///< the peer restarted or forgot us while the call ran; it may or may not have executed
  refused,          ///< the peer's application refused or failed it
  no_handler,       ///< the peer serves no such message
  too_long,         ///< over the peer's limit (learnt after the call started)
  peer_closed,      ///< the peer said goodbye
  protocol_error,   ///< the peer contradicted itself
  shut_down,        ///< our own endpoint was closed
};
const char* to_string(CallStatus status);

/// Datagrams that passed between us and a peer: what tells a silent peer from one whose packets are dropped on the way.
struct PeerTraffic {
  std::uint32_t sent = 0;
  std::uint32_t heard = 0;  ///< those that were taken, not forged or stale ones
  /// Counts wrap; differences over the life of a call do not.
  friend constexpr PeerTraffic operator-(PeerTraffic a, PeerTraffic b) { return {a.sent - b.sent, a.heard - b.heard}; }
};

/// A received message. The memory came from the BufferSource and is the taker's until Endpoint::release_message().
struct Message {
  std::byte* data = nullptr;  ///< null when length is 0
  std::uint64_t length = 0;
};

struct Event {
  enum class Kind : std::uint8_t {
    request,           ///< a whole request arrived; answer it by reply() or refuse()
    one_way,           ///< a whole one-way message arrived
    request_aborted,   ///< the caller of `request` is gone (status says how); reply() is still legal and frees the slot
    call_finished,     ///< `call` ended with `status`; `message` is the response when ok
    payload_released,  ///< the core no longer reads the payload that was handed over with `payload_cookie`
    writable,          ///< a call to `peer` that met would_block, or to anybody (port 0) table_full, may be tried again
  };
  Kind kind{};
  CallStatus status = CallStatus::ok;
  std::uint8_t message_class = 0;
  bool idempotent = false;
  Address peer;
  CallId call;
  RequestId request;
  std::uint64_t cookie = 0;          ///< call_finished: CallOptions::cookie
  std::uint64_t payload_cookie = 0;  ///< payload_released: Payload::cookie
  PeerTraffic traffic;               ///< call_finished: with the peer, since the call started
  Message message;
  Time deadline = kNever;  ///< request: when the caller gives up, on our clock
  HostAddress local;       ///< request, one_way: the address of ours that was asked
};

/// Memory to send from: pieces are gathered in order. The array and the bytes stay readable and unchanged until the
/// payload_released event with this cookie. Length is the sum of the pieces.
struct Payload {
  const ByteView* pieces = nullptr;
  std::uint32_t piece_count = 0;
  std::uint64_t length = 0;
  std::uint64_t cookie = 0;
};

struct CallOptions {
  std::uint64_t cookie = 0;
  Time deadline = kNever;
  std::uint8_t message_class = 0;  ///< 0 is most urgent; compared before length
  bool idempotent = false;         ///< may run more than once: may ride with HELLO, and again after a restart
  bool one_way = false;
  HostAddress local;  ///< source address to use; all zero: the system chooses
};

enum class StartError : std::uint8_t {
  none,
  would_block,  ///< too much waits for this peer, or too many bytes in all; a `writable` event for it follows
  table_full,   ///< no room for one more peer; a `writable` event follows that names none
  too_long,     ///< over the limit of max_message_length(), ours or the peer's
  no_address,   ///< the peer's address names no single peer: see Address::can_be_peer()
  deadline_passed,
  shut_down,
};
const char* to_string(StartError error);

/// Not now: a `writable` event tells when to try again.
constexpr bool is_back_pressure(StartError error) {
  return error == StartError::would_block || error == StartError::table_full;
}

struct StartResult {
  StartError error = StartError::none;
  CallId call;
};

}  // namespace homa::protocol
