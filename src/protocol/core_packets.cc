// What each type of packet does to messages. Returns say whether the packet was taken: only then it is acknowledged.
#include <algorithm>
#include <cstring>

#include "protocol/core.h"

namespace homa::protocol {

Rpc* Endpoint::Core::rpc_of(Association& association, wire::RpcId id) {
  if (is_native() && !association.is_client) return native_requests_.find({association.local_id.value, id.value});
  if (id.slot() >= association.slots.size()) return nullptr;
  const Slot& slot = association.slots[id.slot()];
  if (slot.rpc == nullptr) return nullptr;
  if (slot.generation != id.generation() && !defect(Defect::stale_response_taken)) return nullptr;
  return slot.rpc;
}

// The RPC that a DATA packet's bytes belong to, if they can go straight into its message.
Rpc* Endpoint::Core::receiving_rpc(Association& association, const wire::DataPacket& data) {
  Rpc* rpc = rpc_of(association, data.id);
  if (rpc == nullptr || rpc->in.data == nullptr || rpc->in.complete) return nullptr;
  const bool receiving = association.is_client ? rpc->state == RpcState::active : rpc->state == RpcState::arriving;
  return receiving && rpc->in.length == data.message_length ? rpc : nullptr;
}

bool Endpoint::Core::on_packet(Association& association, const wire::Packet& packet, const std::byte* destination,
                               Time now) {
  if (const auto* data = std::get_if<wire::DataPacket>(&packet)) return on_data(association, *data, destination, now);
  if (const auto* ack = std::get_if<wire::AckPacket>(&packet)) {
    on_ack(association, *ack, now);
  } else if (const auto* grant = std::get_if<wire::GrantPacket>(&packet)) {
    on_grant(association, *grant, now);
  } else if (const auto* cutoffs = std::get_if<wire::CutoffsPacket>(&packet)) {
    on_cutoffs(association, *cutoffs);
  } else if (const auto* abort = std::get_if<wire::AbortPacket>(&packet)) {
    on_abort(association, *abort, now);
  } else if (const auto* release = std::get_if<wire::ReleasePacket>(&packet)) {
    on_release(association, *release, now);
  } else if (const auto* hello = std::get_if<wire::HelloPacket>(&packet)) {
    if (hello->is_ack) return accept_hello_ack(association, *hello, now);
    if (association.is_client) return false;
    association.hello_ack_pending = true;
    queue_control(association);
  }
  return true;  // PING and MTU_PROBE want nothing but their acknowledgment
}

bool Endpoint::Core::on_data(Association& association, const wire::DataPacket& data, const std::byte* destination,
                             Time now) {
  if (!association.is_client) {
    return is_native() ? on_native_request(association, data, destination, now)
                       : on_request_data(association, data, destination, now);
  }
  Rpc* rpc = rpc_of(association, data.id);
  if (rpc == nullptr || rpc->state != RpcState::active) {
    ++counters.responses_discarded;
    return true;  // the call has ended: acknowledged, so that it does not come again
  }
  if (rpc->one_way) {
    ++counters.data_rejected;
    return false;
  }
  if (data.message_length > config.max_message_length) {
    end_call_early(*rpc, CallStatus::too_long, wire::AbortCode::too_long, now);
    return true;
  }
  // An answer means that the whole request arrived: what is unacknowledged of it need not go again.
  rpc->out.active = false;
  send_queue_.remove(*rpc);
  return take_data(*rpc, data, destination, now);
}

bool Endpoint::Core::on_request_data(Association& association, const wire::DataPacket& data,
                                     const std::byte* destination, Time now) {
  const std::uint16_t index = data.id.slot();
  const std::uint32_t generation = data.id.generation();
  const bool idempotent = data.first && (data.call_flags & wire::kCallIdempotent) != 0;
  // Before the client has proven its address, only what may run twice is taken, only in the first few slots, and only
  // whole: a forged address must not make us keep memory for bytes that never come.
  const bool whole = data.payload.size == data.message_length;
  if (index >= config.slots || generation == 0 ||
      (!association.proven && (index >= kInitialSlots || !idempotent || !whole))) {
    ++counters.data_rejected;
    return false;
  }
  if (index >= association.slots.size()) association.slots.resize(index + 1u);
  Slot& slot = association.slots[index];
  if (generation < slot.generation && !defect(Defect::generation_not_checked)) {
    ++counters.data_stale;
    return true;
  }
  if (generation == slot.generation || (generation < slot.generation && slot.rpc != nullptr)) {
    if (slot.rpc != nullptr && slot.rpc->state == RpcState::arriving) {
      return take_data(*slot.rpc, data, destination, now);
    }
    ++counters.data_duplicate;
    if (data.first) ++counters.requests_duplicate;
    if (!defect(Defect::dedup_skipped) || slot.rpc != nullptr) return true;
  }
  if (slot.rpc != nullptr) {
    if (slot.rpc->state != RpcState::responding) {
      ++counters.data_rejected;  // a slot is used again only after its answer
      return false;
    }
    finish_request(*slot.rpc, now);  // using the slot again acknowledges the response
  }
  if (data.message_length > config.max_message_length) {
    slot.generation = generation;
    send_control(association, ContentKind::abort, data.id, wire::AbortCode::too_long);
    return true;
  }
  if (requests_ >= config.max_requests) {
    ++counters.data_held;
    // It will come again. An acknowledgment of what came before tells the client that we live, or it would give us up.
    for (const auto& lane : association.lanes) {
      if (lane && lane->received.largest() != 0) lane->ack_now = true;
    }
    queue_control(association);
    return false;
  }
  Rpc& rpc = new_rpc(association, false);
  rpc.id = data.id;
  rpc.state = RpcState::arriving;
  // finish_request and new_rpc leave the slot table alone, so the reference still holds.
  slot.generation = generation;
  slot.rpc = &rpc;
  ++requests_;
  arm(association, association.last_heard + config.idle_timeout);  // or a request that stays held would stay for ever
  return take_data(rpc, data, destination, now);
}

// First packet of a message that we see, whichever part of it: fixes the length and finds memory.
bool Endpoint::Core::start_message(Rpc& rpc, const wire::DataPacket& data, Time now) {
  InMessage& in = rpc.in;
  if (!in.known) {
    in.known = true;
    in.length = data.message_length;
    in.age = next_age_++;
    in.host = rpc.association->host;
    in.last_arrival = now;
    in.message_class = rpc.message_class;
    // Until the packet that says it has come: what we told the peer that it may send.
    in.authorised = std::min<std::uint64_t>(
        {in.length, config.unscheduled_bytes, rpc.is_caller ? rpc.response_limit : wire::kNoResponseLimit});
  }
  if (in.started) return true;
  if (!in.held && !find_memory(rpc, now)) {
    in.held = true;
    held_.push_back(rpc);
    timers_.set_no_later(held_timer_, now + kHeldRetry);  // memory may come free without our knowing
  }
  if (!in.held) return true;
  ++counters.data_held;
  queue_grant(rpc);
  return false;
}

void Endpoint::Core::first_of_message(Rpc& rpc, const wire::DataPacket& data, Time now) {
  InMessage& in = rpc.in;
  in.first_seen = true;
  if (!in.grant_sent) {
    in.authorised = std::min({in.length, data.incoming, std::uint64_t{config.unscheduled_bytes}});
    // What rides with a HELLO was sent before the client could know our limit.
    in.authorised = std::max<std::uint64_t>(in.authorised, data.payload.size);
  }
  const bool knows_cutoffs = data.cutoff_version == unscheduled_.version();
  if (!knows_cutoffs && rpc.association->cutoffs_told != unscheduled_.version()) {
    rpc.association->cutoffs_pending = true;
    queue_control(*rpc.association);
  }
  if (rpc.is_caller) return;
  rpc.one_way = (data.call_flags & wire::kCallOneWay) != 0 || config.native_one_way;
  rpc.idempotent = (data.call_flags & wire::kCallIdempotent) != 0;
  rpc.message_class = data.message_class;
  rpc.response_limit = data.response_unscheduled;
  if (data.deadline_us != 0) rpc.deadline = now + std::chrono::microseconds(data.deadline_us);
  in.message_class = data.message_class;
  if (in.message_class < 32 && ((config.deadline_classes >> in.message_class) & 1u) != 0) {
    in.deadline_key = static_cast<std::uint64_t>(rpc.deadline.time_since_epoch().count());
  }
  grants_.reorder(in);
}

bool Endpoint::Core::take_data(Rpc& rpc, const wire::DataPacket& data, const std::byte* destination, Time now) {
  InMessage& in = rpc.in;
  if (!start_message(rpc, data, now)) return defect(Defect::ack_before_placed);
  if (in.length != data.message_length) {
    ++counters.data_rejected;
    return false;
  }
  if (data.first && !in.first_seen) first_of_message(rpc, data, now);
  const ByteRange range{data.offset, data.offset + data.payload.size};
  if (in.first_seen && range.end > in.authorised) {
    ++counters.data_rejected;
    return false;
  }
  const ByteRange touching{range.begin - (range.begin > 0 ? 1 : 0), range.end + 1};
  if (in.received.count() >= kMaxHoles && !in.received.overlaps(touching)) {
    ++counters.data_rejected;
    return false;
  }
  if (destination == nullptr && !range.empty()) {
    in.received.for_each_gap(range, [&](ByteRange gap) {
      std::memcpy(in.data + gap.begin, data.payload.data + (gap.begin - range.begin), gap.length());
    });
  }
  ByteRange merged = range;
  if (defect(Defect::range_merge_wrong) && in.received.count() > 0 && !range.empty()) {
    const ByteRange last = in.received[in.received.count() - 1];
    if (range.begin > last.end && range.begin - last.end <= 1452) merged.begin = last.end;
  }
  const std::uint64_t fresh = in.received.add(merged);
  in.received_bytes += fresh;
  ++(fresh > 0 || in.length == 0 ? counters.data_received : counters.data_duplicate);
  const bool same_batch = in.last_arrival == now && in.window > 0;
  in.last_arrival = now;
  in.stalled = false;
  if (!defect(Defect::incoming_leak)) grants_.count_incoming(in);
  if (in.received_bytes == in.length && in.first_seen) {
    message_complete(rpc, now);
    return true;
  }
  if (in.authorised < in.length) {
    if (!same_batch) update_window(*rpc.association, in);
    if (grants_.contains(in)) {
      grants_.reorder(in);
    } else {
      grants_.add(in);
    }
    grants_wanted_ = true;
  }
  if (in.counted_incoming > 0 && !TimerQueue::contains(in.stall_timer)) {
    watch_for_stall(rpc, now);
  }
  return true;
}

void Endpoint::Core::message_complete(Rpc& rpc, Time now) {
  InMessage& in = rpc.in;
  in.complete = true;
  grants_.remove(in);
  if (!defect(Defect::incoming_leak)) grants_.forget_incoming(in);
  timers_.cancel(in.stall_timer);
  rpc.association->grants.discard(rpc);
  in.grant_pending = false;
  grants_wanted_ = grants_wanted_ || grants_.wants_grants();
  unscheduled_.observe(in.length, std::min<std::uint64_t>(in.length, config.unscheduled_bytes));
  if (rpc.is_caller) {
    finish_call(rpc, CallStatus::ok, now);
  } else {
    deliver(rpc, now);
  }
}

void Endpoint::Core::on_grant(Association& association, const wire::GrantPacket& grant, Time) {
  Rpc* rpc = rpc_of(association, grant.id);
  const RpcState sending = association.is_client ? RpcState::active : RpcState::responding;
  if (rpc == nullptr || rpc->state != sending || rpc->out.released || grant.offset > rpc->out.length()) {
    ++counters.grants_rejected;
    return;
  }
  OutMessage& out = rpc->out;
  if (grant.hold) {
    // A message that was taken once is never held again: this one was overtaken by its grant.
    if (!out.taken) {
      out.hold = true;
      refresh_sending(*rpc);
    }
    return;
  }
  std::uint64_t limit = grant.offset;
  if (defect(Defect::window_off_by_one)) limit = std::min(limit + 1452, out.length());
  if (limit > out.limit || out.hold) ++counters.grants_received;
  out.taken = true;
  out.hold = false;
  out.limit = std::max(out.limit, limit);
  const int level = std::max(index(grant.priority), unscheduled_.lowest_level());
  out.scheduled_priority = Priority{static_cast<std::uint8_t>(level)};
  refresh_sending(*rpc);
}

void Endpoint::Core::on_cutoffs(Association& association, const wire::CutoffsPacket& cutoffs) {
  association.cutoffs = cutoffs.cutoffs;
  association.cutoff_version = cutoffs.version;
}

void Endpoint::Core::on_abort(Association& association, const wire::AbortPacket& abort, Time now) {
  ++counters.aborts_received;
  Rpc* rpc = rpc_of(association, abort.id);
  if (association.is_client) {
    if (rpc == nullptr) return;
    if (rpc->state == RpcState::aborting) {
      // ABORTED, or an ABORT that crossed ours: either way the handler has ended.
      free_slot(*rpc, now);
      destroy_rpc(*rpc);
      update_idle(association);
    } else if (rpc->state == RpcState::active) {
      // ABORTED without our asking: the handler ended after we had been silent for too long.
      CallStatus status = abort.is_aborted ? CallStatus::outcome_unknown : CallStatus::refused;
      if (abort.code == wire::AbortCode::discarded) status = CallStatus::outcome_unknown;
      if (abort.code == wire::AbortCode::no_handler) status = CallStatus::no_handler;
      if (abort.code == wire::AbortCode::too_long) status = CallStatus::too_long;
      if (abort.code == wire::AbortCode::protocol) status = CallStatus::protocol_error;
      finish_call(*rpc, status, now);
    }
    return;
  }
  if (abort.is_aborted || abort.id.slot() >= config.slots || abort.id.generation() == 0 || !association.proven) return;
  if (abort.id.slot() >= association.slots.size()) association.slots.resize(abort.id.slot() + 1u);
  Slot& slot = association.slots[abort.id.slot()];
  if (abort.id.generation() > slot.generation) {
    // Never seen: make sure that it never runs.
    if (slot.rpc != nullptr && slot.rpc->state != RpcState::responding) return;
    if (slot.rpc != nullptr) finish_request(*slot.rpc, now);
    slot.generation = abort.id.generation();
  } else if (abort.id.generation() == slot.generation && slot.rpc != nullptr) {
    if (slot.rpc->state == RpcState::running) {
      if (slot.rpc->aborted) return;
      slot.rpc->aborted = true;
      tell_aborted(*slot.rpc,
                   abort.code == wire::AbortCode::expired ? CallStatus::deadline_exceeded : CallStatus::cancelled);
      return;  // ABORTED goes when the handler ends, RELEASE when a one-way message is taken
    }
    finish_request(*slot.rpc, now);
  }
  send_control(association, ContentKind::aborted, abort.id, abort.code);
}

void Endpoint::Core::on_release(Association& association, const wire::ReleasePacket& release, Time now) {
  if (!association.is_client) return;
  Rpc* rpc = rpc_of(association, release.id);
  if (rpc == nullptr || !rpc->one_way) return;
  if (rpc->state == RpcState::active) {
    finish_call(*rpc, CallStatus::ok, now);
  } else if (rpc->state == RpcState::aborting) {
    free_slot(*rpc, now);
    destroy_rpc(*rpc);
    update_idle(association);
  }
}

}  // namespace homa::protocol
