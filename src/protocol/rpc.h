// One RPC or one-way message, at its caller or at its callee.
#pragma once

#include <cstdint>

#include "protocol/message.h"
#include "protocol/timer_queue.h"
#include "wire/packet.h"

namespace homa::protocol {

struct Association;

/// States of a caller:  waiting -> active -> (gone) | aborting -> (gone)
///   waiting: no slot yet. active: request going out, response coming in. aborting: ended for the application, the slot
///   is kept until the callee says ABORTED (or RELEASE).
/// States of a callee:  arriving -> running -> responding -> (gone)
///   arriving: request not whole. running: the application has it. responding: the answer is on its way, until it is
///   acknowledged or the slot is used again.
enum class RpcState : std::uint8_t { waiting, active, aborting, arriving, running, responding };

struct Rpc {
  std::uint32_t slab_index = 0;
  std::uint32_t slab_generation = 0;

  Association* association = nullptr;
  wire::RpcId id;
  RpcState state = RpcState::waiting;
  bool is_caller = false;
  bool one_way = false;
  bool idempotent = false;
  bool aborted = false;  ///< callee: the caller is gone; ABORTED is owed when the handler ends
  std::uint8_t message_class = 0;
  std::uint32_t response_limit = wire::kNoResponseLimit;
  std::uint64_t cookie = 0;
  Time deadline = kNever;
  Time first_sent = kNever;  ///< caller: when the request first went out
  HostAddress local;
  PeerTraffic traffic_before;  ///< caller: of the association when the call came to it

  OutMessage out;
  InMessage in;

  TimerNode deadline_timer;
  HeapHook order_hook;  ///< in the send queue, by order and by age
  HeapHook age_hook;
  ListHook<Rpc> association_hook;
  ListHook<Rpc> queue_hook;  ///< caller: waiting for a slot. callee or caller: held for memory
  ListHook<Rpc> grant_hook;  ///< has a grant to send

  CallId call_id() const { return {slab_index, slab_generation}; }
  RequestId request_id() const { return {slab_index, slab_generation}; }
};

using AssociationRpcs = IntrusiveList<Rpc, &Rpc::association_hook>;
using RpcQueue = IntrusiveList<Rpc, &Rpc::queue_hook>;
using GrantQueue = IntrusiveList<Rpc, &Rpc::grant_hook>;

}  // namespace homa::protocol
