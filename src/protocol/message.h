// The two halves of a transfer: a message going out and a message coming in. Plain state; the core moves it.
#pragma once

#include <cstdint>

#include "base/heap.h"
#include "base/intrusive_list.h"
#include "base/range_set.h"
#include "protocol/event.h"
#include "protocol/timer_queue.h"

namespace homa::protocol {

struct Rpc;
struct Host;

/// Shortest first: class, then bytes left (or the deadline, for classes ordered by it), then age. Smaller is better.
struct OrderKey {
  std::uint8_t message_class = 0;
  std::uint64_t primary = 0;  // bytes left, or deadline in ns
  std::uint64_t age = 0;      // number given at birth, increasing
  friend bool operator<(const OrderKey& a, const OrderKey& b) {
    if (a.message_class != b.message_class) return a.message_class < b.message_class;
    if (a.primary != b.primary) return a.primary < b.primary;
    return a.age < b.age;
  }
};

/// A message that we send. Every byte is in exactly one state: never sent (from `next` on), in flight, lost (to be sent
/// again), acknowledged. Invariants: acknowledged_bytes <= next <= max(limit, 0) <= length; lost and acknowledged
/// disjoint.
struct OutMessage {
  Payload payload;
  std::uint64_t next = 0;   ///< first byte never sent
  std::uint64_t limit = 0;  ///< bytes below may be sent: unscheduled or granted
  RangeSet acknowledged;
  RangeSet lost;
  std::uint64_t acknowledged_bytes = 0;
  std::uint64_t unscheduled = 0;  ///< bytes below go at the unscheduled priority
  std::uint64_t age = 0;
  std::uint64_t deadline_key = 0;  ///< orders by deadline instead of bytes left when not 0
  std::uint16_t cutoff_version = 0;
  Priority unscheduled_priority{};
  Priority scheduled_priority{};
  bool active = false;     ///< has been given to the send queue and is not complete
  bool announce = false;   ///< a packet without payload must go: length 0, or nothing unscheduled
  bool announced = false;  ///< ... and went before
  bool announce_acknowledged = false;
  bool hold = false;              ///< the receiver asked us to wait for a grant
  bool taken = false;             ///< the receiver has memory for it (acknowledged or granted something)
  bool released = false;          ///< the payload was given back
  std::uint32_t piece = 0;        ///< cursor into the payload: piece that holds ...
  std::uint64_t piece_begin = 0;  ///< ... this offset

  std::uint64_t length() const { return payload.length; }
  std::uint64_t remaining() const { return payload.length - acknowledged_bytes; }
  bool complete() const {
    return acknowledged_bytes == payload.length && (payload.length > 0 || announce_acknowledged);
  }
  bool sendable() const { return active && !hold && (announce || !lost.empty() || next < limit); }
};

/// A message that we receive. `data` is null until memory was found (held) and after it was handed on.
struct InMessage {
  std::uint64_t length = 0;
  std::byte* data = nullptr;
  RangeSet received;
  std::uint64_t received_bytes = 0;
  std::uint64_t authorised = 0;  ///< the sender may send all below: its `incoming`, or what we granted
  std::uint64_t age = 0;
  std::uint64_t deadline_key = 0;      ///< orders by deadline instead of bytes left when not 0
  std::uint64_t window = 0;            ///< bytes that may be authorised and not received: RTTbytes of its path
  std::uint64_t counted_incoming = 0;  ///< part of the total of incoming bytes that is this message's
  Time last_arrival{};
  TimerNode stall_timer;  ///< runs while counted_incoming > 0; fires early and is set anew
  Host* host = nullptr;
  Priority granted_priority{};
  std::uint8_t message_class = 0;
  bool known = false;       ///< length is known: a DATA packet was seen
  bool started = false;     ///< memory was found (or none is needed)
  bool first_seen = false;  ///< the packet that carries class and flags arrived
  bool held = false;
  bool complete = false;
  bool grant_sent = false;     ///< `authorised` is our own word
  bool grant_pending = false;  ///< a GRANT is to be sent
  bool stalled = false;        ///< silent though granted: waits at the back
  bool active = false;         ///< among the messages granted at once
  HeapHook grant_hook;         ///< in its host's heap, while it wants grants and is not active
  HeapHook age_hook;

  OrderKey key() const { return {message_class, deadline_key != 0 ? deadline_key : length - received_bytes, age}; }
};

}  // namespace homa::protocol
