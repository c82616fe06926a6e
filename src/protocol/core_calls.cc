// What the application asks for: calls, replies, cancellation; and how each of them ends.
#include <algorithm>

#include "protocol/core.h"

namespace homa::protocol {

Rpc& Endpoint::Core::new_rpc(Association& association, bool caller) {
  Rpc& rpc = rpcs_.create();
  rpc.association = &association;
  rpc.is_caller = caller;
  rpc.deadline_timer.kind = TimerKind::call;
  rpc.deadline_timer.owner = &rpc;
  rpc.in.stall_timer.kind = TimerKind::stall;
  rpc.in.stall_timer.owner = &rpc;
  association.rpcs.push_back(rpc);
  no_longer_idle(association);
  return rpc;
}

StartResult Endpoint::Core::start(const Address& server, const Payload& request, const CallOptions& options, Time now) {
  if (closed_) return {StartError::shut_down, {}};
  if (!server.can_be_peer()) return {StartError::no_address, {}};
  if (request.length > config.max_message_length) return {StartError::too_long, {}};
  if (options.deadline <= now) return {StartError::deadline_passed, {}};
  Association* association = client_association(server, options.local, now);
  if (association == nullptr) {
    ++counters.calls_blocked;
    table_blocked_ = true;
    return {StartError::table_full, {}};
  }
  if (association->open && request.length > association->limits.max_message_length) return {StartError::too_long, {}};
  if (association->waiting.size() >= config.max_waiting_calls ||
      (send_memory_ > 0 && send_memory_ + request.length > config.send_memory)) {
    ++counters.calls_blocked;
    if (!BlockedList::contains(*association)) blocked_.push_back(*association);
    return {StartError::would_block, {}};
  }

  Rpc& rpc = new_rpc(*association, true);
  rpc.state = RpcState::waiting;
  rpc.one_way = options.one_way;
  rpc.idempotent = options.idempotent;
  rpc.message_class = options.message_class;
  rpc.cookie = options.cookie;
  rpc.deadline = options.deadline;
  rpc.out.payload = request;
  rpc.traffic_before = association->traffic;
  send_memory_ += request.length;
  ++calls_;
  if (!rpc.one_way) ++responses_expected_;
  ++counters.calls_started;
  if (rpc.deadline != kNever && !defect(Defect::deadline_forgotten)) timers_.set(rpc.deadline_timer, rpc.deadline);
  association->waiting.push_back(rpc);
  assign_slots(*association, now);
  return {StartError::none, rpc.call_id()};
}

// A call that finds no slot waits in order of arrival: slots are many, and fairness here keeps every call alive.
void Endpoint::Core::assign_slots(Association& association, Time now) {
  while (association.open && !association.waiting.empty()) {
    std::uint16_t index = 0;
    if (!association.free_slots.empty()) {
      index = association.free_slots.back();
      association.free_slots.pop_back();
    } else if (association.slots.size() < association.limits.slots) {
      index = static_cast<std::uint16_t>(association.slots.size());
      association.slots.emplace_back();
    } else {
      break;
    }
    give_slot(association, *association.waiting.pop_front(), index, now);
  }
  if (BlockedList::contains(association) && association.waiting.size() <= config.max_waiting_calls / 2 &&
      send_memory_ <= config.send_memory / 2) {
    blocked_.remove(association);
    add_event(Event::Kind::writable).peer = association.remote;
  }
}

void Endpoint::Core::give_slot(Association& association, Rpc& rpc, std::uint16_t index, Time now) {
  Slot& slot = association.slots[index];
  slot.rpc = &rpc;
  rpc.id = wire::RpcId::of(index, ++slot.generation);
  rpc.state = RpcState::active;
  begin_sending(rpc, rpc.out.payload, unscheduled_limit(association), now);
}

void Endpoint::Core::free_slot(Rpc& rpc, Time now) {
  constexpr std::uint32_t kLastGeneration = 0xffffffff;
  Association& association = *rpc.association;
  Slot& slot = association.slots[rpc.id.slot()];
  if (slot.rpc != &rpc) return;
  slot.rpc = nullptr;
  // A generation never wraps: the slot of the last one is given up instead.
  if (slot.generation != kLastGeneration) association.free_slots.push_back(rpc.id.slot());
  assign_slots(association, now);
}

// Many callees answering at once would flood our downlink before any grant can say no: the more answers we expect, the
// less of each may come unscheduled (SIGCOMM'18 section 3.6).
std::uint32_t Endpoint::Core::response_limit() const {
  constexpr std::uint64_t kSmallest = 256;  // "a few hundred bytes", enough for most of many
  if (!config.incast_control) return wire::kNoResponseLimit;
  constexpr std::uint64_t kPart = 4;  // of all incoming bytes; grants need the rest
  const std::uint64_t share = config.max_incoming / kPart / std::max<std::uint64_t>(responses_expected_, 1);
  if (share >= config.unscheduled_bytes) return wire::kNoResponseLimit;
  return static_cast<std::uint32_t>(std::max(share, kSmallest));
}

// No more than the receiver takes, and no more than a round trip at our own rate, or it would only queue here.
std::uint64_t Endpoint::Core::unscheduled_limit(const Association& association) const {
  std::uint64_t limit = association.limits.unscheduled_bytes;
  if (uplink.rate().known() && association.best_rtt > Duration::zero()) {
    const std::uint64_t own = 2 * uplink.rate().bytes_in(association.best_rtt);
    limit = std::min(limit, std::max<std::uint64_t>(own, 2u * association.mtu.datagram_size()));
  }
  return limit;
}

// Nothing is sent before the peer has a name; what rides with a HELLO is put there by hand.
void Endpoint::Core::refresh_sending(Rpc& rpc) {
  if (rpc.association->open) {
    send_queue_.refresh(rpc);
  } else {
    send_queue_.remove(rpc);
  }
}

void Endpoint::Core::begin_sending(Rpc& rpc, const Payload& payload, std::uint64_t unscheduled, Time now) {
  const Association& association = *rpc.association;
  OutMessage& out = rpc.out;
  out.payload = payload;
  out.age = next_age_++;
  out.unscheduled = std::min(unscheduled, payload.length);
  out.limit = out.unscheduled;
  if (defect(Defect::window_off_by_one)) out.limit = std::min(out.limit + 1452, payload.length);
  out.announce = out.unscheduled == 0;
  out.cutoff_version = association.cutoff_version;
  const int lowest = unscheduled_.lowest_level();
  // Before the peer has said its cutoffs: one level below the control packets, as Linux Homa does.
  const Priority wanted = association.cutoff_version == 0
                              ? Priority{static_cast<std::uint8_t>(kPriorityLevels - 2)}
                              : UnscheduledPolicy::priority_of(association.cutoffs, payload.length);
  out.unscheduled_priority = Priority{static_cast<std::uint8_t>(std::max(lowest, index(wanted)))};
  out.scheduled_priority = Priority{static_cast<std::uint8_t>(lowest)};
  if (rpc.message_class < 32 && ((config.deadline_classes >> rpc.message_class) & 1u) != 0) {
    out.deadline_key = static_cast<std::uint64_t>(rpc.deadline.time_since_epoch().count());
  }
  out.active = association.proven;
  refresh_sending(rpc);
  trace(now, "message of %llu bytes begins", static_cast<unsigned long long>(payload.length));
}

void Endpoint::Core::release_payload(Rpc& rpc) {
  send_queue_.remove(rpc);
  rpc.out.active = false;
  if (rpc.out.released) return;
  rpc.out.released = true;
  send_memory_ -= rpc.out.length();
  add_event(Event::Kind::payload_released).payload_cookie = rpc.out.payload.cookie;
  while (!blocked_.empty() && send_memory_ <= config.send_memory / 2) {
    add_event(Event::Kind::writable).peer = blocked_.pop_front()->remote;
  }
}

void Endpoint::Core::destroy_rpc(Rpc& rpc) {
  timers_.cancel(rpc.deadline_timer);
  timers_.cancel(rpc.in.stall_timer);
  send_queue_.remove(rpc);
  if (RpcQueue::contains(rpc)) {
    (rpc.state == RpcState::waiting ? rpc.association->waiting : held_).remove(rpc);
  }
  if (rpc.association != nullptr) {
    rpc.association->grants.discard(rpc);
    rpc.association->rpcs.discard(rpc);
  }
  rpcs_.destroy(rpc);
}

Event& Endpoint::Core::add_event(Event::Kind kind) {
  Event& event = events_.append();
  event.kind = kind;
  return event;
}

Event& Endpoint::Core::add_call_finished(const Rpc& rpc, CallStatus status) {
  Event& event = add_event(Event::Kind::call_finished);
  event.status = status;
  event.call = rpc.call_id();
  event.cookie = rpc.cookie;
  if (rpc.association != nullptr) {
    event.peer = rpc.association->remote;
    event.traffic = rpc.association->traffic - rpc.traffic_before;
  }
  return event;
}

// The application hears of the end; the slot is free, or lost with its association.
void Endpoint::Core::finish_call(Rpc& rpc, CallStatus status, Time now) {
  Association* association = rpc.association;
  Message response;
  if (status == CallStatus::ok && !rpc.one_way) {
    response = {rpc.in.data, rpc.in.length};
    rpc.in.data = nullptr;
  }
  ++(status == CallStatus::ok ? counters.calls_succeeded : counters.calls_failed);
  stop_receiving(rpc);
  release_payload(rpc);
  add_call_finished(rpc, status).message = response;
  if (defect(Defect::event_twice) && status == CallStatus::ok && !rpc.one_way) add_call_finished(rpc, status);
  --calls_;
  if (!rpc.one_way) --responses_expected_;
  if (association != nullptr && rpc.state == RpcState::active) free_slot(rpc, now);
  destroy_rpc(rpc);
  if (association != nullptr) update_idle(*association);
}

// The application hears of the end now; the slot stays taken until the callee says that its handler has ended.
void Endpoint::Core::end_call_early(Rpc& rpc, CallStatus status, wire::AbortCode code, Time now) {
  if (rpc.state == RpcState::waiting) return finish_call(rpc, status, now);
  HOMA_ASSERT(rpc.state == RpcState::active);
  ++counters.calls_failed;
  stop_receiving(rpc);
  release_payload(rpc);
  add_call_finished(rpc, status);
  --calls_;
  if (!rpc.one_way) --responses_expected_;
  timers_.cancel(rpc.deadline_timer);
  rpc.state = RpcState::aborting;
  send_control(*rpc.association, ContentKind::abort, rpc.id, code);
  if (defect(Defect::slot_freed_early)) {
    free_slot(rpc, now);
    destroy_rpc(rpc);
  }
}

bool Endpoint::Core::cancel(CallId call, Time now) {
  Rpc* rpc = rpcs_.find(call.index, call.generation);
  if (rpc == nullptr || !rpc->is_caller || rpc->state == RpcState::aborting) return false;
  end_call_early(*rpc, CallStatus::cancelled, wire::AbortCode::cancelled, now);
  return true;
}

bool Endpoint::Core::reply(RequestId request, const Payload& response, Time now) {
  Rpc* rpc = rpcs_.find(request.index, request.generation);
  if (rpc == nullptr || rpc->is_caller || rpc->one_way || rpc->state != RpcState::running) return false;
  Association& association = *rpc->association;
  if (rpc->aborted) {
    // The caller is gone: this was the handler's end, for which its slot has waited.
    send_control(association, ContentKind::aborted, rpc->id, wire::AbortCode::cancelled);
    finish_request(*rpc, now);
    return false;
  }
  if (response.length > association.limits.max_message_length) {
    send_control(association, ContentKind::abort, rpc->id, wire::AbortCode::too_long);
    finish_request(*rpc, now);
    return false;
  }
  send_memory_ += response.length;
  rpc->state = RpcState::responding;
  const std::uint64_t unscheduled = std::min<std::uint64_t>(unscheduled_limit(association), rpc->response_limit);
  begin_sending(*rpc, response, unscheduled, now);
  return true;
}

bool Endpoint::Core::refuse(RequestId request, CallStatus reason, Time now) {
  Rpc* rpc = rpcs_.find(request.index, request.generation);
  if (rpc == nullptr || rpc->is_caller || rpc->state != RpcState::running) return false;
  const wire::AbortCode code =
      reason == CallStatus::no_handler ? wire::AbortCode::no_handler : wire::AbortCode::handler_failed;
  send_control(*rpc->association, rpc->aborted ? ContentKind::aborted : ContentKind::abort, rpc->id, code);
  finish_request(*rpc, now);
  return true;
}

// Callee: nothing more is to be done for this request; its slot remembers the generation.
void Endpoint::Core::finish_request(Rpc& rpc, Time) {
  Association& association = *rpc.association;
  if (is_native()) {
    native_requests_.erase(rpc);
  } else if (Slot& slot = association.slots[rpc.id.slot()]; slot.rpc == &rpc) {
    slot.rpc = nullptr;
  }
  stop_receiving(rpc);
  if (rpc.state == RpcState::responding) release_payload(rpc);
  --requests_;
  destroy_rpc(rpc);
  update_idle(association);
}

void Endpoint::Core::deliver(Rpc& rpc, Time) {
  rpc.state = RpcState::running;
  ++counters.requests_delivered;
  Event& event = add_event(rpc.one_way ? Event::Kind::one_way : Event::Kind::request);
  event.peer = rpc.association->remote;
  event.local = rpc.association->local;
  event.request = rpc.request_id();
  event.message_class = rpc.message_class;
  event.idempotent = rpc.idempotent;
  event.deadline = rpc.deadline;
  event.message = {rpc.in.data, rpc.in.length};
  rpc.in.data = nullptr;
}

bool Endpoint::Core::next_event(Event& event, Time now) {
  if (events_.empty()) return false;
  event = events_.front();
  events_.pop_front();
  if (event.kind != Event::Kind::one_way) return true;
  // The application took it: that frees the caller's slot. The RPC is gone when its association was lost meanwhile.
  Rpc* rpc = rpcs_.find(event.request.index, event.request.generation);
  if (rpc == nullptr) return true;
  if (!is_native()) send_control(*rpc->association, ContentKind::release, rpc->id);
  finish_request(*rpc, now);
  return true;
}

}  // namespace homa::protocol
