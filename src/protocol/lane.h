// One packet-number space of an association: what we sent and is not resolved, and what arrived.
//
// Strict priorities reorder packets across lanes by design but never inside one, so loss is judged lane by lane.
#pragma once

#include <cstdint>

#include "base/ring.h"
#include "base/units.h"
#include "protocol/received_numbers.h"
#include "protocol/rtt.h"

namespace homa::protocol {

/// What a sent packet carried, so that its loss or acknowledgment can be told to whom it concerns.
enum class ContentKind : std::uint8_t {
  nothing,  ///< only acknowledgments: never acknowledged itself
  data,
  grant,
  abort,
  aborted,
  release,
  hello,
  hello_ack,
  cutoffs,
  ping,
  mtu_probe,
};

struct Content {
  static constexpr std::uint32_t kEnd = 0xffffffff;
  ContentKind kind = ContentKind::nothing;
  std::uint16_t length = 0;     // data: payload bytes; abort, aborted: the code; mtu_probe: datagram size
  std::uint32_t rpc_index = 0;  // data, grant: slab handle, stale when the RPC is gone
  std::uint32_t rpc_generation = 0;
  std::uint32_t next = kEnd;  // further contents of the same frame, in the core's pool
  std::uint64_t rpc_id = 0;   // data, grant: the slot and generation it went under (a call may go again)
  std::uint64_t value = 0;    // data: offset; abort, aborted, release: RpcId; cutoffs: version
};

enum class SentState : std::uint8_t {
  in_flight,
  acknowledged,
  lost,
  not_eliciting,  ///< nothing in it needs an acknowledgment
};

struct SentPacket {
  Time sent{};
  Content content;
  std::uint16_t size = 0;  // bytes of the datagram
  SentState state = SentState::not_eliciting;
};

struct Lane {
  explicit Lane(Priority lane_priority) : priority(lane_priority) {}

  Priority priority;
  std::uint8_t probe_count = 0;  // probe timeouts since the last progress
  bool ping_pending = false;
  bool ack_now = false;

  // Sender half. sent[0] is packet number `first_sent`; the ring holds unresolved numbers and what lies between.
  std::uint64_t next_number = 1;
  std::uint64_t largest_acknowledged = 0;
  std::uint32_t in_flight = 0;
  Duration reorder_window{0};  // grows when a loss proves spurious
  Time last_eliciting_sent{};
  Time loss_deadline = kNever;  // when the oldest overtaken packet counts as lost
  RttEstimator rtt;
  Ring<SentPacket> sent;

  // Receiver half.
  ReceivedNumbers received;
  Time largest_arrival{};
  Time ack_deadline = kNever;
  std::uint32_t eliciting_unacknowledged = 0;
  std::uint32_t congestion_experienced = 0;

  std::uint64_t first_sent() const { return next_number - sent.size(); }
  bool ack_due(Time now) const { return ack_now || ack_deadline <= now; }
  bool ack_wanted() const { return ack_now || ack_deadline != kNever; }
};

}  // namespace homa::protocol
