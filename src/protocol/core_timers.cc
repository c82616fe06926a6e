// Time: what is due, and when the next thing will be.
#include <algorithm>
#include <cstdarg>

#include "base/text.h"
#include "protocol/core.h"

namespace homa::protocol {

void Endpoint::Core::advance(Time now) {
  while (TimerNode* node = timers_.pop_due(now)) {
    switch (node->kind) {
      case TimerKind::association:
        on_association_timer(*static_cast<Association*>(node->owner), now);
        break;
      case TimerKind::call: {
        Rpc& rpc = *static_cast<Rpc*>(node->owner);
        if (rpc.is_caller && rpc.state != RpcState::aborting) {
          end_call_early(rpc, CallStatus::deadline_exceeded, wire::AbortCode::expired, now);
        }
        break;
      }
      case TimerKind::stall: {
        Rpc& rpc = *static_cast<Rpc*>(node->owner);
        const Time due = rpc.in.last_arrival + stall_timeout(*rpc.association);
        if (due > now) {
          timers_.set(rpc.in.stall_timer, due);
        } else if (rpc.in.authorised > rpc.in.received_bytes) {  // else it waits for us
          grants_.stall(rpc.in);
          grants_wanted_ = grants_.wants_grants();
        }
        break;
      }
      case TimerKind::held:
        retry_held(now);
        break;
    }
  }
  put_idle_to_sleep();
}

Time Endpoint::Core::next_deadline() const {
  if (!control_.empty() || !stateless_.empty()) return Time::min();
  Time next = timers_.next();
  if (!send_queue_.empty()) next = std::min(next, uplink.next_start());
  if (grants_wanted_) next = std::min(next, grant_clock_);
  return next;
}

// How long a silent peer is waited for. A server that forgets what it ran must have kept it for T, or the client, told
// that its association is forgotten, would send the call again (architecture section 4: at most once).
Duration Endpoint::Core::silence_limit(const Association& association) const {
  return association.is_client ? config.peer_timeout : std::max(config.peer_timeout, config.idle_timeout);
}

// The earliest of everything that this association waits for.
Time Endpoint::Core::association_deadline(const Association& association) const {
  Time next = kNever;
  for (const auto& lane : association.lanes) {
    if (!lane) continue;
    next = std::min({next, lane->loss_deadline, probe_deadline(association, *lane)});
    if (!lane->ack_now) next = std::min(next, lane->ack_deadline);
  }
  if (association.first_unanswered != kNever && association.proven) {
    next = std::min(next, association.first_unanswered + silence_limit(association));
  }
  if (is_native()) return next;
  if (!association.is_client && (association.abandoned || awaits_client(association))) {
    const Duration patience = association.abandoned ? config.idle_timeout : config.peer_timeout;
    return std::min(next, association.last_heard + std::min(patience, config.idle_timeout));
  }
  if (association.rpcs.empty() || !association.is_client) return next;
  if (association.open && association.first_unanswered == kNever && !defect(Defect::ping_forgotten)) {
    next = std::min(next, association.last_heard + ping_interval(association));
  }
  return next;
}

// Server: something here needs the client's next word.
bool Endpoint::Core::awaits_client(const Association& association) {
  return !association.rpcs.empty() || (association.proven && association.has_in_flight());
}

// Often enough that a server which still has something of ours does not give us up.
Duration Endpoint::Core::ping_interval(const Association& association) const {
  constexpr int kPingsPerTimeout = 4;
  const Duration patience = association.limits.peer_timeout;
  return patience > Duration::zero() ? std::min(config.ping_interval, patience / kPingsPerTimeout)
                                     : config.ping_interval;
}

void Endpoint::Core::on_association_timer(Association& association, Time now) {
  if (association.first_unanswered != kNever && association.proven &&
      now - association.first_unanswered >= silence_limit(association)) {
    const CallStatus status = association.open ? CallStatus::peer_timeout : CallStatus::peer_unreachable;
    return lose(association, status, CallStatus::peer_unreachable, Restart::none, now);
  }
  const bool awaits = !association.is_client && (association.abandoned || awaits_client(association));
  if (awaits && now - association.last_heard >= config.idle_timeout) {
    return lose(association, CallStatus::peer_timeout, CallStatus::peer_timeout, Restart::none, now);
  }
  if (awaits && !association.abandoned && now - association.last_heard >= config.peer_timeout) {
    abandon(association, now);
  }
  for (const auto& lane : association.lanes) {
    if (!lane) continue;
    if (lane->ack_deadline <= now) {
      lane->ack_now = true;
      queue_control(association);
    }
    if (lane->loss_deadline <= now) detect_losses(association, *lane, now);
    if (probe_deadline(association, *lane) <= now) probe(association, *lane, now);
    resolve_front(*lane, now);
  }
  if (association.is_client && association.open && !association.rpcs.empty() &&
      association.first_unanswered == kNever && now - association.last_heard >= ping_interval(association)) {
    ask_whether_alive(association, now);
  }
  const Time next = association_deadline(association);
  // Acknowledgments that go now are not waited for; a deadline that is still due would only spin.
  if (next != kNever) timers_.set_no_later(association.timer, std::max(next, now + kSoonestTimer));
  update_idle(association);
}

void Endpoint::Core::ask_whether_alive(Association& association, Time now) {
  if (defect(Defect::ping_forgotten)) return;
  association.lane(kControlPriority).ping_pending = true;
  queue_control(association);
  trace(now, "is %016llx alive?", static_cast<unsigned long long>(association.remote_id.value));
}

void Endpoint::Core::send_control(Association& association, ContentKind kind, wire::RpcId id, wire::AbortCode code) {
  association.control.push_back({kind, code, id});
  no_longer_idle(association);
  queue_control(association);
}

// ICMP and the like: anybody can forge it, so it only makes us ask sooner, or give up on a peer that says nothing.
void Endpoint::Core::network_error(const Address& peer, TransmitFailure failure, Time now) {
  Association* association = clients_.find(peer);
  if (failure != TransmitFailure::unreachable || association == nullptr || association->first_unanswered == kNever) {
    return;
  }
  if (association->unreachable_hints < 255) ++association->unreachable_hints;
  if (association->first_hint == kNever) association->first_hint = now;
  if (association->unreachable_hints < kUnreachableHints) return;
  if (!association->open || now - association->first_hint >= kHintSilence) {
    const CallStatus status = association->open ? CallStatus::peer_timeout : CallStatus::peer_unreachable;
    lose(*association, status, CallStatus::peer_unreachable, Restart::none, now);
  }
}

void Endpoint::Core::transmit_failed(const Train& train, TransmitFailure failure, Time now) {
  if (failure == TransmitFailure::unreachable) return network_error(train.to, failure, now);
  ++counters.mtu_too_big;
  Association* association = associations_.find(train.association, train.association_generation);
  if (association == nullptr) return;
  association->mtu.too_big(static_cast<std::uint16_t>(train.segment_size()), now);
  Lane* lane = association->find_lane(train.priority);
  for (std::size_t i = 0; lane != nullptr && i < train.segment_count; ++i) {
    const std::uint64_t number = train.first_number + i;
    if (number < lane->first_sent() || number >= lane->next_number) continue;
    SentPacket& packet = lane->sent[number - lane->first_sent()];
    if (packet.state == SentState::in_flight) declare_lost(*association, *lane, packet, now);
  }
}

void Endpoint::Core::trace(Time now, const char* format, ...) const {
  if (trace_sink == nullptr) return;
  TextBuffer text;
  va_list arguments;
  va_start(arguments, format);
  trace_sink->trace(now, text.format(format, arguments));
  va_end(arguments);
}

}  // namespace homa::protocol
