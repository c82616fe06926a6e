// Birth and end of associations (docs/wire.md section 4).
#include <algorithm>

#include "protocol/core.h"

namespace homa::protocol {

wire::AssociationId Endpoint::Core::fresh_id(std::uint8_t peer_shard) {
  for (;;) {
    const std::uint64_t random = rng_.next() & 0x0000ffffffffffffULL;
    const wire::AssociationId id{(std::uint64_t{config.shard} << 56) | (std::uint64_t{peer_shard} << 48) | random};
    if (random != 0 && by_local_id_.find(without_peer_shard(id.value)) == nullptr) return id;
  }
}

Host& Endpoint::Core::host_of(const HostAddress& address) {
  Host* host = hosts_by_address_.find(address);
  if (host == nullptr) {
    host = &hosts_.create();
    host->address = address;
    hosts_by_address_.insert(*host);
  }
  ++host->associations;
  return *host;
}

void Endpoint::Core::drop_host(Association& association) {
  Host& host = *association.host;
  association.host = nullptr;
  if (--host.associations > 0) return;
  HOMA_ASSERT(host.waiting.empty() && host.active == 0);
  hosts_by_address_.erase(host);
  hosts_.destroy(host);
}

Association& Endpoint::Core::new_association(bool client, const Address& remote, const HostAddress& local, Time now) {
  Association& association = associations_.create(config, client);
  association.remote = remote;
  association.local = local;
  association.last_heard = now;
  association.host = &host_of(remote.host);
  association.timer.kind = TimerKind::association;
  association.timer.owner = &association;
  all_.push_back(association);
  return association;
}

// The table is full: the association idle for longest is forgotten, else an unproven one. Idle ones that have been
// silent for T go anyway, two for each new one, so that short-lived clients leave no pile.
bool Endpoint::Core::make_room(Time now) {
  for (int i = 0; i < 2; ++i) {
    Association* oldest = idle_.front();
    if (oldest == nullptr || now - oldest->last_heard < config.idle_timeout) break;
    ++counters.associations_evicted;
    destroy_association(*oldest);
  }
  if (associations_.live() < config.max_associations) return true;
  Association* victim = idle_.front() != nullptr ? idle_.front() : unproven_.front();
  if (victim == nullptr) return false;
  ++counters.associations_evicted;
  lose(*victim, CallStatus::outcome_unknown, CallStatus::outcome_unknown, Restart::none, now);
  return true;
}

Association* Endpoint::Core::client_association(const Address& server, const HostAddress& local, Time now) {
  Association* known = clients_.find(server);
  if (known != nullptr) return known;
  if (!make_room(now)) return nullptr;
  Association& association = new_association(true, server, local, now);
  association.local_id = fresh_id(0);
  association.proven = true;  // we chose the address ourselves
  by_local_id_.insert(association);
  clients_.insert(association);
  if (is_native()) {
    open_native(association);
    return &association;
  }
  association.hello_pending = true;
  queue_control(association);
  return &association;
}

Association* Endpoint::Core::accept_hello(const Datagram& datagram, const wire::HelloPacket& hello, Time now) {
  ++counters.hellos_received;
  if (closed_ || !config.accepts || hello.source.value == 0 || hello.incarnation == 0 ||
      hello.version_min > wire::kVersion || hello.version_max < wire::kVersion) {
    ++counters.hellos_refused;
    return nullptr;
  }
  if (Association* known = by_remote_id_.find({without_peer_shard(hello.source.value), datagram.from})) {
    if (known->is_client || known->remote_incarnation != hello.incarnation) {
      ++counters.hellos_refused;
      return nullptr;
    }
    return known;
  }
  if (unproven_count_ >= config.max_unproven_associations) {
    lose(*unproven_.front(), CallStatus::outcome_unknown, CallStatus::outcome_unknown, Restart::none, now);
  }
  if (!make_room(now)) {
    ++counters.hellos_refused;
    return nullptr;
  }
  Association& association = new_association(false, datagram.from, datagram.to, now);
  association.local_id = fresh_id(static_cast<std::uint8_t>(hello.source.value >> 56));
  by_local_id_.insert(association);
  unproven_.push_back(association);
  ++unproven_count_;
  opened(association, hello, now);
  return &association;
}

// False: the answer is refused.
bool Endpoint::Core::accept_hello_ack(Association& association, const wire::HelloPacket& hello, Time now) {
  if (!association.is_client) return false;
  // A second answer with another id is a second association of the server's, made of a late copy of our HELLO. We never
  // use it, and it stays unproven.
  if (association.open) return association.remote_id.value == hello.source.value;
  // An id by which this peer is our client already. Who is honest chooses each of its ids once; two of the same name
  // could not be told apart when a NO_ASSOCIATION comes.
  if (by_remote_id_.find({without_peer_shard(hello.source.value), association.remote}) != nullptr) {
    ++counters.hellos_refused;
    return false;
  }
  opened(association, hello, now);
  return true;
}

// Both sides: the peer's HELLO or HELLO_ACK says who it is and what it takes.
void Endpoint::Core::opened(Association& association, const wire::HelloPacket& hello, Time now) {
  association.open = true;
  association.hello_pending = false;  // one that was thought lost is not needed any more
  association.remote_id = hello.source;
  // A client cannot know which shard will serve it: the server writes its own into the client's id (byte 5), so that a
  // NO_ASSOCIATION that names this id comes back to the right shard. The client ignores that byte.
  if (!association.is_client) association.remote_id.value |= std::uint64_t{config.shard} << kPeerShardShift;
  association.remote_incarnation = hello.incarnation;
  association.limits.max_message_length = hello.max_message_length;
  association.limits.unscheduled_bytes = hello.unscheduled_bytes;
  association.limits.max_ack_delay_us = hello.max_ack_delay_us;
  association.limits.idle_timeout = std::chrono::milliseconds(hello.idle_timeout_ms);
  association.limits.peer_timeout = std::chrono::milliseconds(hello.peer_timeout_ms);
  association.mtu.limit(hello.max_datagram);
  by_remote_id_.insert(association);
  ++counters.associations_opened;
  association.cutoffs_pending = true;  // rides with the first frame that goes there
  if (!association.is_client) return;
  association.limits.slots = hello.slots;
  for (Rpc* rpc = association.rpcs.front(); rpc != nullptr; rpc = AssociationRpcs::next(*rpc)) {
    if (rpc->state == RpcState::active) refresh_sending(*rpc);  // it rode with the HELLO
  }
  // Calls too long for this server end here, never sent.
  for (Rpc* rpc = association.waiting.front(); rpc != nullptr;) {
    Rpc* next = RpcQueue::next(*rpc);
    if (rpc->out.length() > hello.max_message_length) end_call_early(*rpc, CallStatus::too_long, {}, now);
    rpc = next;
  }
  assign_slots(association, now);
}

void Endpoint::Core::proven(Association& association) {
  association.proven = true;
  unproven_.remove(association);
  --unproven_count_;
  for (const auto& lane : association.lanes) {
    if (lane && lane->in_flight > 0) arm(association, probe_deadline(association, *lane));
  }
  for (Rpc* rpc = association.rpcs.front(); rpc != nullptr; rpc = AssociationRpcs::next(*rpc)) {
    if (rpc->state != RpcState::responding || rpc->out.released) continue;
    rpc->out.active = true;
    refresh_sending(*rpc);
  }
}

// Server: the client has been silent for the peer timeout. Whatever of it holds memory here ends, but the slots stay
// for T: they are what keeps a request from running twice.
void Endpoint::Core::abandon(Association& association, Time now) {
  association.abandoned = true;
  trace(now, "client of %016llx is silent", static_cast<unsigned long long>(association.local_id.value));
  for (Rpc* rpc = association.rpcs.front(); rpc != nullptr;) {
    Rpc* next = AssociationRpcs::next(*rpc);
    if (rpc->state == RpcState::running) {
      if (!rpc->aborted) {
        rpc->aborted = true;
        tell_aborted(*rpc, CallStatus::peer_timeout);
      }
    } else {
      send_control(association, ContentKind::abort, rpc->id, wire::AbortCode::discarded);
      finish_request(*rpc, now);
    }
    rpc = next;
  }
}

// The application may stop working for a caller that is gone.
void Endpoint::Core::tell_aborted(const Rpc& rpc, CallStatus status) {
  ++counters.requests_aborted;
  if (rpc.one_way) return;  // nothing to stop: it was delivered
  Event& event = add_event(Event::Kind::request_aborted);
  event.status = status;
  event.peer = rpc.association->remote;
  event.request = rpc.request_id();
}

bool Endpoint::Core::is_idle(const Association& association) {
  if (!association.open || !association.proven || !association.rpcs.empty() || !association.waiting.empty() ||
      !association.control.empty()) {
    return false;
  }
  for (const auto& lane : association.lanes) {
    if (lane && (lane->in_flight > 0 || lane->ack_wanted() || lane->ping_pending)) return false;
  }
  return true;
}

void Endpoint::Core::update_idle(Association& association) {
  if (!is_idle(association)) {
    no_longer_idle(association);
    return;
  }
  if (IdleList::contains(association)) return;
  idle_.push_back(association);
  awake_.push_back(association);
  tell_room_in_table();
}

// One association was destroyed, or can be, so a start that found the table full finds room.
void Endpoint::Core::tell_room_in_table() {
  if (!table_blocked_) return;
  table_blocked_ = false;
  Event event;
  event.kind = Event::Kind::writable;
  events_.push_back(event);
}

void Endpoint::Core::no_longer_idle(Association& association) {
  idle_.discard(association);
  awake_.discard(association);
}

// Few idle associations stay awake, so that a conversation with pauses allocates nothing; the rest keep only marks.
// Runs from timers only: nobody is at work on a lane then.
void Endpoint::Core::put_idle_to_sleep() {
  while (awake_.size() > kIdleAwake) {
    Association& association = *awake_.pop_front();
    for (const auto& lane : association.lanes) {
      for (std::size_t i = 0; lane && i < lane->sent.size(); ++i) drop_contents(lane->sent[i].content);
    }
    association.sleep();
  }
}

// An evicted association ran nothing that is not finished, so a call of the same server incarnation that was first sent
// less than T ago cannot have run there: it may go again. See architecture: at most once.
bool Endpoint::Core::may_restart(const Rpc& rpc, Restart restart, Time now) const {
  if (rpc.out.released || closed_) return false;
  if (rpc.idempotent) return restart != Restart::none;
  if (defect(Defect::incarnation_ignored) && restart != Restart::none) return true;
  const Duration kept = std::min(config.idle_timeout, rpc.association->limits.idle_timeout);
  return restart == Restart::all_recent && now - rpc.first_sent < kept;
}

void Endpoint::Core::lose(Association& association, CallStatus status, CallStatus unsent, Restart restart, Time now) {
  ++counters.associations_lost;
  trace(now, "association %016llx lost: %s", static_cast<unsigned long long>(association.local_id.value),
        to_string(status));
  RpcQueue again;
  while (Rpc* rpc = association.waiting.pop_front()) {
    if (restart != Restart::none && !closed_) {
      again.push_back(*rpc);
      association.rpcs.remove(*rpc);
    } else {
      finish_call(*rpc, unsent, now);
    }
  }
  while (Rpc* rpc = association.rpcs.front()) {
    send_queue_.remove(*rpc);
    if (!rpc->is_caller) {
      if (rpc->state == RpcState::running && !rpc->aborted) {
        tell_aborted(*rpc, status);
      }
      finish_request(*rpc, now);
    } else if (rpc->state == RpcState::aborting) {
      destroy_rpc(*rpc);
    } else if (may_restart(*rpc, restart, now)) {
      ++counters.calls_restarted;
      stop_receiving(*rpc);
      const Payload payload = rpc->out.payload;
      rpc->in = InMessage();
      rpc->in.stall_timer.kind = TimerKind::stall;
      rpc->in.stall_timer.owner = rpc;
      rpc->out = OutMessage();
      rpc->out.payload = payload;
      rpc->state = RpcState::waiting;
      association.grants.discard(*rpc);
      association.rpcs.remove(*rpc);
      again.push_back(*rpc);
    } else {
      finish_call(*rpc, rpc->first_sent == kNever ? unsent : status, now);
    }
  }
  const Address remote = association.remote;
  const HostAddress local = association.local;
  const bool was_blocked = BlockedList::contains(association);
  destroy_association(association);
  if (was_blocked) add_event(Event::Kind::writable).peer = remote;
  if (again.empty()) return;
  Association* renewed = client_association(remote, local, now);
  while (Rpc* rpc = again.pop_front()) {
    if (renewed == nullptr) {
      rpc->association = nullptr;
      finish_call(*rpc, unsent, now);
      continue;
    }
    rpc->association = renewed;
    rpc->traffic_before = renewed->traffic;
    renewed->rpcs.push_back(*rpc);
    renewed->waiting.push_back(*rpc);
  }
}

void Endpoint::Core::destroy_association(Association& association) {
  HOMA_ASSERT(association.rpcs.empty() && association.waiting.empty());
  timers_.cancel(association.timer);
  control_.discard(association);
  no_longer_idle(association);
  blocked_.discard(association);
  if (UnprovenList::contains(association)) {
    unproven_.remove(association);
    --unproven_count_;
  }
  for (const auto& lane : association.lanes) {
    if (!lane) continue;
    for (std::size_t i = 0; i < lane->sent.size(); ++i) drop_contents(lane->sent[i].content);
  }
  by_local_id_.erase(association);
  if (association.is_client) clients_.erase(association);
  if (association.remote_id.value != 0 && !(is_native() && association.is_client)) by_remote_id_.erase(association);
  drop_host(association);
  all_.remove(association);
  associations_.destroy(association);
  tell_room_in_table();
}

// Somebody uses an id that we do not know. One small answer to one datagram, and only to what wants an answer, so two
// confused ends cannot keep each other busy. The answer is smaller than three times the smallest such frame.
void Endpoint::Core::refuse_unknown(const Datagram& datagram, const wire::FrameHeader& header, Time now) {
  constexpr std::size_t kMaxStateless = 64;
  if (closed_ || stateless_.size() >= kMaxStateless) return;
  StatelessFrame frame;
  frame.to = datagram.from;
  frame.from = datagram.to;
  wire::FrameHeader answer;
  answer.reversed = true;
  answer.lane = header.lane;
  answer.destination = header.destination;
  answer.packet_number = header.packet_number;
  wire::encode_frame_header(answer, wire::kNoAssociationSize, frame.bytes.data());
  const wire::NoAssociationPacket body{header.packet_number, config.incarnation};
  frame.size = static_cast<std::uint8_t>(wire::kFrameHeaderSize +
                                         wire::encode_packet(body, frame.bytes.data() + wire::kFrameHeaderSize));
  stateless_.push_back(frame);
  ++counters.no_association_sent;
  trace(now, "unknown id %016llx", static_cast<unsigned long long>(header.destination.value));
}

void Endpoint::Core::close(Time now) {
  if (closed_) return;
  closed_ = true;
  while (Association* association = all_.front()) {
    if (association->open && association->proven && !is_native()) {
      StatelessFrame frame;
      frame.to = association->remote;
      frame.from = association->local;
      wire::FrameHeader header;
      header.lane = kControlPriority;
      header.destination = association->remote_id;
      wire::encode_frame_header(header, wire::kCloseSize, frame.bytes.data());
      const wire::ClosePacket body{static_cast<std::uint16_t>(wire::AbortCode::shutting_down), config.incarnation};
      frame.size = static_cast<std::uint8_t>(wire::kFrameHeaderSize +
                                             wire::encode_packet(body, frame.bytes.data() + wire::kFrameHeaderSize));
      stateless_.push_back(frame);
    }
    lose(*association, CallStatus::shut_down, CallStatus::shut_down, Restart::none, now);
  }
}

std::size_t Association::memory_bytes() const {
  std::size_t bytes =
      slots.capacity() * sizeof(Slot) + free_slots.capacity() * sizeof(std::uint16_t) + control.memory_bytes();
  for (const auto& lane : lanes) {
    if (lane) bytes += sizeof(Lane) + lane->sent.memory_bytes() + lane->received.memory_bytes();
  }
  return bytes;
}

}  // namespace homa::protocol
