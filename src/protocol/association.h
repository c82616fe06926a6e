// What two endpoints know of each other: ids, limits, lanes, slots. One client, one server side; never both.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "protocol/grants.h"
#include "protocol/lane.h"
#include "protocol/path_mtu.h"
#include "protocol/rpc.h"

namespace homa::protocol {

/// A slot is free (no rpc) or names the RPC that uses it; `generation` is the last one used in it.
/// Callee: a request runs only if its generation is above the slot's: that is the whole deduplication.
struct Slot {
  std::uint32_t generation = 0;
  Rpc* rpc = nullptr;
};

/// The id that the peer chose, with its address: ids of different peers may be equal.
struct RemoteName {
  std::uint64_t id = 0;
  Address address;
  friend bool operator==(const RemoteName& a, const RemoteName& b) { return a.id == b.id && a.address == b.address; }
};

/// A small packet to be sent (again) to the peer, of things that have no state of their own any more.
struct ControlItem {
  ContentKind kind = ContentKind::nothing;  // abort, aborted or release
  wire::AbortCode code{};
  wire::RpcId id;
};

/// What the peer said about itself in HELLO or HELLO_ACK.
struct PeerLimits {
  std::uint64_t max_message_length = 0;
  std::uint32_t unscheduled_bytes = 0;
  std::uint32_t max_ack_delay_us = 1000;
  Duration idle_timeout{0};  ///< how long the peer keeps a silent association (its T)
  Duration peer_timeout{0};  ///< silence after which the peer gives up what we have under way there
  std::uint16_t slots = 16;  ///< before the peer has said more (architecture section 4)
};

/// What is left of a lane while its association sleeps: enough to number on and to refuse duplicates.
struct LaneMark {
  std::uint64_t next_number = 1;
  std::uint64_t largest_received = 0;
};

/// States of a client association: opening (HELLO not answered) -> open -> (gone).
/// A server association is open at birth, and proven once the client has echoed our id.
/// Times: last_heard, and first_unanswered = when we first sent, since then, something that wants an answer.
struct Association {
  Association(const Config& config, bool client) : is_client(client), mtu(config) {}

  std::uint32_t slab_index = 0;
  std::uint32_t slab_generation = 0;

  const bool is_client;
  bool open = false;
  bool proven = false;
  bool abandoned = false;  ///< server: the client was silent for long; nothing of its own holds memory here
  bool hello_pending = false;
  bool hello_ack_pending = false;
  bool cutoffs_pending = false;
  std::uint8_t unreachable_hints = 0;
  std::uint16_t mtu_probe_pending = 0;  ///< size of the probe to send

  Address remote;
  HostAddress local;
  wire::AssociationId local_id;
  wire::AssociationId remote_id;
  std::uint64_t remote_incarnation = 0;
  PeerLimits limits;

  std::array<std::unique_ptr<Lane>, kPriorityLevels> lanes;
  std::unique_ptr<std::array<LaneMark, kPriorityLevels>> marks;  ///< of lanes put to sleep
  RttEstimator last_rtt;                                         ///< of the top lane when it was
  PathMtu mtu;
  std::uint16_t largest_received = 0;  ///< datagram, of this peer
  PeerTraffic traffic;
  Duration best_rtt{0};  ///< smallest minimum of any lane
  Time last_heard{};
  Time first_unanswered = kNever;
  Time first_hint = kNever;
  TimerNode timer;

  std::array<std::uint32_t, kPriorityLevels> cutoffs{};  ///< of the peer, for what we send to it
  std::uint16_t cutoff_version = 0;
  std::uint16_t cutoffs_told = 0;       ///< version of ours that the peer was told
  std::uint64_t unproven_received = 0;  ///< bytes from an address not yet proven
  std::uint64_t unproven_sent = 0;
  std::uint32_t unproven_datagrams_received = 0;
  std::uint32_t unproven_datagrams_sent = 0;

  std::vector<Slot> slots;
  std::vector<std::uint16_t> free_slots;  ///< client: used before, free now; last in first out keeps the table small
  RpcQueue waiting;                       ///< client: calls without a slot
  AssociationRpcs rpcs;
  GrantQueue grants;  ///< RPCs with a GRANT to send
  Ring<ControlItem> control;
  Host* host = nullptr;

  ListHook<Association> awake_hook;    ///< idle, lanes still there, the longest idle first
  ListHook<Association> blocked_hook;  ///< a start met would_block: `writable` is owed
  ListHook<Association> all_hook;
  ListHook<Association> control_hook;
  ListHook<Association> idle_hook;  ///< nothing in it: may be forgotten, oldest first
  ListHook<Association> unproven_hook;

  Lane& lane(Priority priority) {
    auto& lane = lanes[static_cast<std::size_t>(index(priority))];
    if (!lane) {
      lane = std::make_unique<Lane>(priority);
      if (marks) {
        const LaneMark& mark = (*marks)[static_cast<std::size_t>(index(priority))];
        lane->next_number = mark.next_number;
        lane->received.restore(mark.largest_received);
      }
    }
    return *lane;
  }
  /// Precondition: nothing is in flight and no acknowledgment is owed.
  void sleep() {
    if (!marks) marks = std::make_unique<std::array<LaneMark, kPriorityLevels>>();
    last_rtt = top_rtt();
    for (auto& lane : lanes) {
      if (!lane) continue;
      (*marks)[static_cast<std::size_t>(index(lane->priority))] = {lane->next_number, lane->received.largest()};
      lane.reset();
    }
    control.shrink(0);
  }
  Lane* find_lane(Priority priority) { return lanes[static_cast<std::size_t>(index(priority))].get(); }
  /// The round trip to reckon with on this lane: its own, else the top lane's, else none (has_sample() false).
  const RttEstimator& rtt_of(const Lane& asked) const {
    if (asked.rtt.has_sample()) return asked.rtt;
    return top_rtt();
  }
  const RttEstimator& top_rtt() const {
    for (std::size_t i = lanes.size(); i-- > 0;) {
      if (lanes[i] && lanes[i]->rtt.has_sample()) return lanes[i]->rtt;
    }
    return last_rtt;
  }
  bool has_in_flight() const {
    for (const auto& lane : lanes) {
      if (lane && lane->in_flight > 0) return true;
    }
    return false;
  }
  std::size_t memory_bytes() const;
};

}  // namespace homa::protocol
