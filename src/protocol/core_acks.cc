// Acknowledgments, loss and probes, lane by lane (RFC 8985's time threshold and RFC 9002's probe timeout, adapted).
#include <algorithm>

#include "protocol/core.h"

namespace homa::protocol {

template <typename Visit>
void Endpoint::Core::for_each_content(const Content& first, Visit&& visit) {
  if (first.kind == ContentKind::nothing) return;
  Content content = first;  // copies: visiting may grow the pool
  for (;;) {
    visit(content);
    if (content.next == Content::kEnd) return;
    content = contents_[content.next];
  }
}

std::uint32_t Endpoint::Core::add_content() {
  if (free_content_ == Content::kEnd) {
    contents_.emplace_back();
    free_content_ = static_cast<std::uint32_t>(contents_.size() - 1);
  }
  const std::uint32_t index = free_content_;
  free_content_ = contents_[index].next;
  return index;
}

// Gives the further contents of a packet back to the pool.
void Endpoint::Core::drop_contents(const Content& content) {
  std::uint32_t index = content.kind == ContentKind::nothing ? Content::kEnd : content.next;
  while (index != Content::kEnd) {
    const std::uint32_t next = contents_[index].next;
    contents_[index].next = free_content_;
    free_content_ = index;
    index = next;
  }
}

void Endpoint::Core::on_ack(Association& association, const wire::AckPacket& ack, Time now) {
  ++counters.acks_received;
  Lane* lane = association.find_lane(Priority{ack.lane});
  const std::uint64_t largest =
      lane == nullptr
          ? 0
          : wire::expand_packet_number(ack.largest, std::max(lane->largest_acknowledged, lane->first_sent()));
  std::uint64_t reach = 0;  // how far below `largest` the ranges go
  for (std::size_t i = 0; i < ack.range_count; ++i) reach += std::uint64_t{ack.ranges[i].gap} + ack.ranges[i].length;
  // Numbers that we have yet to send are passed over, not held against the rest: a forged frame may have come to the
  // peer far ahead of ours, and every ACK of its names that one until we get there.
  if (lane == nullptr || reach > largest || largest + 1 - reach >= lane->next_number) {
    ++counters.acks_rejected;
    return;
  }

  bool progress = false;
  std::uint64_t high = largest;
  for (std::size_t i = 0; i < ack.range_count && high >= lane->first_sent(); ++i) {
    high -= ack.ranges[i].gap;
    const std::uint64_t low = high - ack.ranges[i].length + 1;
    const std::uint64_t last = std::min(high, lane->next_number - 1);
    if (low <= last) lane->largest_acknowledged = std::max(lane->largest_acknowledged, last);
    // The last acknowledgment may leave the association idle, which forgets all that was sent.
    for (std::uint64_t number = std::max(low, lane->first_sent()); number <= last && !lane->sent.empty(); ++number) {
      SentPacket& packet = lane->sent[number - lane->first_sent()];
      if (packet.state != SentState::in_flight && packet.state != SentState::lost) continue;
      // Also of packets thought lost: numbers are unique, and a round trip that grew would never be learnt otherwise.
      if (number == largest) {
        lane->rtt.sample(now - packet.sent, std::chrono::nanoseconds(ack.delay_ns));
        if (association.best_rtt == Duration::zero() || lane->rtt.minimum() < association.best_rtt) {
          association.best_rtt = lane->rtt.minimum();
        }
      }
      progress = true;
      acknowledged(association, *lane, packet, now);
    }
    high = low - 1;
  }
  if (progress) lane->probe_count = 0;
  detect_losses(association, *lane, now);
  resolve_front(*lane, now);
  arm(association, probe_deadline(association, *lane));
  if (lane->in_flight == 0) update_idle(association);
}

void Endpoint::Core::acknowledged(Association& association, Lane& lane, SentPacket& packet, Time now) {
  if (packet.state == SentState::lost) {
    // It was only late. Wait longer from now on, up to one round trip more.
    ++counters.losses_spurious;
    const Duration smoothed = association.rtt_of(lane).smoothed();
    lane.reorder_window = std::min(lane.reorder_window + smoothed / 8, smoothed);
  } else {
    --lane.in_flight;
  }
  packet.state = SentState::acknowledged;
  if (association.mtu.delivered(packet.size, packet.sent, now)) {
    ++counters.mtu_black_holes;
    trace(now, "black hole: packet size is now %u", unsigned{association.mtu.datagram_size()});
  }
  const std::uint16_t size = packet.size;
  const Content first = packet.content;
  packet.content.kind = ContentKind::nothing;
  for_each_content(first, [&](const Content& content) { content_acknowledged(association, content, size, now); });
  drop_contents(first);
}

void Endpoint::Core::content_acknowledged(Association& association, const Content& content, std::uint16_t size,
                                          Time now) {
  if (content.kind == ContentKind::mtu_probe) {
    const std::uint16_t before = association.mtu.datagram_size();
    association.mtu.probe_acknowledged(size, now);
    if (association.mtu.datagram_size() > before) ++counters.mtu_raised;
    return;
  }
  if (content.kind != ContentKind::data) return;
  Rpc* rpc = rpcs_.find(content.rpc_index, content.rpc_generation);
  if (rpc != nullptr && rpc->association == &association && rpc->id.value == content.rpc_id) {
    data_acknowledged(association, *rpc, content, now);
  }
}

void Endpoint::Core::data_acknowledged(Association&, Rpc& rpc, const Content& content, Time now) {
  OutMessage& out = rpc.out;
  if (out.released || (rpc.is_caller && rpc.state != RpcState::active)) return;
  out.taken = true;
  const ByteRange range{content.value, content.value + content.length};
  if (range.empty()) {
    out.announce_acknowledged = true;
    out.announce = false;
  }
  out.acknowledged_bytes += out.acknowledged.add(range);
  out.lost.remove(range);
  if (!out.complete()) {
    refresh_sending(rpc);
    return;
  }
  send_queue_.remove(rpc);
  out.active = false;
  if (!rpc.is_caller) {
    finish_request(rpc, now);  // the caller has the whole response
  } else if (!rpc.idempotent) {
    release_payload(rpc);  // an idempotent call may have to go again, after a restart of the server
  }
}

void Endpoint::Core::content_lost(Association& association, const Content& content, Time) {
  switch (content.kind) {
    case ContentKind::data: {
      Rpc* rpc = rpcs_.find(content.rpc_index, content.rpc_generation);
      if (rpc == nullptr || rpc->association != &association || rpc->id.value != content.rpc_id || rpc->out.released ||
          !rpc->out.active || defect(Defect::loss_not_requeued)) {
        return;
      }
      OutMessage& out = rpc->out;
      if (content.length == 0) out.announce = !out.announce_acknowledged;
      out.acknowledged.for_each_gap({content.value, content.value + content.length},
                                    [&](ByteRange gap) { out.lost.add(gap); });
      refresh_sending(*rpc);
      return;
    }
    case ContentKind::grant: {
      Rpc* rpc = rpcs_.find(content.rpc_index, content.rpc_generation);
      if (rpc == nullptr || rpc->association != &association || rpc->id.value != content.rpc_id || !rpc->in.known ||
          rpc->in.complete || defect(Defect::grant_lost)) {
        return;
      }
      if (rpc->is_caller ? rpc->state == RpcState::active : rpc->state == RpcState::arriving) queue_grant(*rpc);
      return;
    }
    case ContentKind::abort:
    case ContentKind::aborted:
      if (defect(Defect::abort_lost)) return;
      return send_control(association, content.kind, {content.value}, static_cast<wire::AbortCode>(content.length));
    case ContentKind::release:
      if (defect(Defect::release_lost)) return;
      return send_control(association, content.kind, {content.value});
    case ContentKind::hello:
      association.hello_pending = !association.open;
      break;
    case ContentKind::cutoffs:
      association.cutoffs_pending = true;
      break;
    case ContentKind::hello_ack:
    case ContentKind::ping:
    case ContentKind::mtu_probe:
    case ContentKind::nothing:
      return;  // asked for again when needed
  }
  queue_control(association);
}

void Endpoint::Core::declare_lost(Association& association, Lane& lane, SentPacket& packet, Time now) {
  packet.state = SentState::lost;
  --lane.in_flight;
  ++counters.packets_lost;
  const bool is_probe = packet.content.kind == ContentKind::mtu_probe;
  if (is_probe) {
    association.mtu.probe_lost(packet.size, now);
  } else {
    association.mtu.lost(packet.size, packet.sent);
  }
  for_each_content(packet.content, [&](const Content& content) { content_lost(association, content, now); });
}

Duration Endpoint::Core::loss_delay(const Association& association, const Lane& lane) const {
  const RttEstimator& rtt = association.rtt_of(lane);
  const Duration base = std::max(rtt.smoothed(), rtt.latest());
  return std::max(base + base / 8 + lane.reorder_window, kTimerGranularity);
}

// A packet is lost when a later one of its lane was acknowledged and its own time has passed. Send times only grow with
// the numbers, so the first packet that still has time ends the search.
void Endpoint::Core::detect_losses(Association& association, Lane& lane, Time now) {
  lane.loss_deadline = kNever;
  const Duration delay = loss_delay(association, lane);
  for (std::size_t i = 0; i < lane.sent.size() && lane.first_sent() + i < lane.largest_acknowledged; ++i) {
    SentPacket& packet = lane.sent[i];
    if (packet.state != SentState::in_flight) continue;
    if (packet.sent + delay > now) {
      lane.loss_deadline = packet.sent + delay;
      arm(association, lane.loss_deadline);
      return;
    }
    declare_lost(association, lane, packet, now);
  }
}

// Numbers at the front that nothing is to be learnt of any more. Lost ones stay a while: a late acknowledgment tells
// that the loss was spurious.
void Endpoint::Core::resolve_front(Lane& lane, Time now) {
  const Duration keep = 4 * std::max(lane.rtt.smoothed(), kTimerGranularity);
  while (!lane.sent.empty()) {
    SentPacket& packet = lane.sent.front();
    if (packet.state == SentState::in_flight) return;
    if (packet.state == SentState::lost && packet.sent + keep > now) return;
    drop_contents(packet.content);
    lane.sent.pop_front();
  }
}

Duration Endpoint::Core::probe_timeout(const Association& association, const Lane& lane) const {
  const RttEstimator& rtt = association.rtt_of(lane);
  Duration timeout = config.initial_probe_timeout;
  if (rtt.has_sample()) {
    timeout = rtt.smoothed() + std::max(4 * rtt.variance(), rtt.smoothed() / 8) +
              std::chrono::microseconds(association.limits.max_ack_delay_us);
  }
  const int doublings = lane.probe_count < kPromptProbes ? 0 : std::min(lane.probe_count - kPromptProbes + 1, 16);
  const Duration longest = std::min(kMaxProbeTimeout, config.peer_timeout / kProbesBeforeGivingUp);
  return std::min(timeout * (1 << doublings), std::max(timeout, longest));
}

Time Endpoint::Core::probe_deadline(const Association& association, const Lane& lane) const {
  if (!association.proven || association.abandoned || defect(Defect::probe_timer_forgotten)) return kNever;
  if (lane.in_flight == 0) {
    const bool keep_running = defect(Defect::timer_never_cancelled) && association.top_rtt().has_sample();
    return keep_running ? lane.last_eliciting_sent + 1h : kNever;
  }
  return lane.last_eliciting_sent + probe_timeout(association, lane);
}

// Nothing came back for what was sent last. The oldest unresolved content goes again: if it was lost, this repairs it.
// A PING in this very lane tells of the rest: content that goes again may take another lane, and only an acknowledgment
// in its own lane can prove a packet lost.
void Endpoint::Core::probe(Association& association, Lane& lane, Time now) {
  ++counters.probes_sent;
  if (lane.probe_count < 255) ++lane.probe_count;
  trace(now, "probe %d of lane %d", int{lane.probe_count}, index(lane.priority));
  int declared = 0;
  for (std::size_t i = 0; i < lane.sent.size() && declared < kProbePackets; ++i) {
    SentPacket& packet = lane.sent[i];
    if (packet.state != SentState::in_flight) continue;
    declare_lost(association, lane, packet, now);
    ++declared;
  }
  lane.last_eliciting_sent = now;
  // Also because what was lost may have to wait (HOLD), and because where big packets vanish only a small one arrives.
  if (association.open) {
    lane.ping_pending = true;
    queue_control(association);
  }
}

}  // namespace homa::protocol
