// Datagrams in: finding their association, refusing what is not ours, and noting what arrived.
#include <algorithm>
#include <cstring>

#include "protocol/core.h"

namespace homa::protocol {
namespace {

template <typename T>
const T* sole_packet(const wire::Frame& frame) {
  return frame.packet_count == 1 ? std::get_if<T>(&frame.packets[0]) : nullptr;
}

bool wants_acknowledgment(const wire::Packet& packet) {
  return !std::holds_alternative<wire::AckPacket>(packet) &&
         !std::holds_alternative<wire::NoAssociationPacket>(packet) &&
         !std::holds_alternative<wire::ClosePacket>(packet);
}

bool any_wants_acknowledgment(const wire::Frame& frame) {
  for (std::size_t i = 0; i < frame.packet_count; ++i) {
    if (wants_acknowledgment(frame.packets[i])) return true;
  }
  return false;
}

}  // namespace

bool Endpoint::Core::place(const Datagram& datagram, Arrival& arrival, Time now) {
  if (is_native()) return place_native(datagram, arrival, now);
  ++counters.datagrams_received;
  const wire::Frame& frame = arrival.frame;
  arrival.association = 0;
  arrival.association_generation = 0;
  const wire::DecodeError error = wire::decode_frame(datagram.bytes, arrival.frame);
  if (error != wire::DecodeError::none) {
    ++counters.datagrams_malformed;
    trace(now, "malformed: %s", wire::to_string(error));
    return false;
  }
  if (frame.header.reversed || frame.header.destination.value == 0) {
    std::fill_n(arrival.destination.begin(), frame.packet_count, nullptr);
    return true;
  }
  Association* association = by_local_id_.find(without_peer_shard(frame.header.destination.value));
  if (association == nullptr) {
    ++counters.datagrams_unknown;
    if (any_wants_acknowledgment(frame)) refuse_unknown(datagram, frame.header, now);
    return false;
  }
  if (association->remote != datagram.from) {
    ++counters.datagrams_wrong_address;  // in clear an association never moves to another address
    return false;
  }
  if (sole_packet<wire::ClosePacket>(frame) == nullptr) {
    const Lane* lane = association->find_lane(frame.header.lane);
    if (lane != nullptr && !defect(Defect::duplicate_number_taken) &&
        lane->received.seen(wire::expand_packet_number(frame.header.packet_number, lane->received.largest() + 1))) {
      ++counters.datagrams_duplicate;
      return false;
    }
  }
  arrival.association = association->slab_index;
  arrival.association_generation = association->slab_generation;
  for (std::size_t i = 0; i < frame.packet_count; ++i) {
    arrival.destination[i] = nullptr;
    const auto* data = std::get_if<wire::DataPacket>(&frame.packets[i]);
    if (data == nullptr || data->payload.size == 0) continue;
    Rpc* rpc = receiving_rpc(*association, *data);
    const ByteRange range{data->offset, data->offset + data->payload.size};
    if (rpc != nullptr && !rpc->in.received.overlaps(range)) arrival.destination[i] = rpc->in.data + data->offset;
  }
  return true;
}

void Endpoint::Core::commit(const Datagram& datagram, const Arrival& arrival, Time now) {
  if (is_native()) return commit_native(datagram, arrival, now);
  const wire::Frame& frame = arrival.frame;
  counters.bytes_received += datagram.bytes.size;
  Association* association = associations_.find(arrival.association, arrival.association_generation);
  if (association == nullptr && frame.header.destination.value == 0 && !frame.header.reversed) {
    const auto* hello = std::get_if<wire::HelloPacket>(&frame.packets[0]);
    if (hello == nullptr || hello->is_ack) return;
    association = accept_hello(datagram, *hello, now);
    if (association == nullptr) return;
  } else if (association == nullptr) {
    if (const auto* unknown = sole_packet<wire::NoAssociationPacket>(frame)) {
      on_no_association(datagram, frame.header, *unknown, now);
    }
    return;
  } else if (const auto* close = sole_packet<wire::ClosePacket>(frame)) {
    on_close(*association, *close, now);
    return;
  }
  if (!association->is_client && !association->proven) {
    ++association->unproven_datagrams_received;
    association->unproven_received += datagram.bytes.size;
    if (frame.header.destination.value != 0) proven(*association);
  }
  Lane& lane = association->lane(frame.header.lane);
  const std::uint64_t number = wire::expand_packet_number(frame.header.packet_number, lane.received.largest() + 1);
  const bool seen = lane.received.seen(number);
  if (number == 0 || (seen && !defect(Defect::duplicate_number_taken))) {
    ++counters.datagrams_duplicate;
    return;
  }
  association->last_heard = now;
  ++association->traffic.heard;
  if (association->abandoned) {
    association->abandoned = false;  // it speaks again: what is still unanswered is probed again
    arm(*association, now + kSoonestTimer);
  }
  association->first_unanswered = kNever;
  association->first_hint = kNever;
  association->unreachable_hints = 0;
  if (datagram.ecn == Ecn::ce) {
    ++counters.ecn_ce_received;
    ++lane.congestion_experienced;
  }
  measure_downlink(datagram.bytes.size, now);
  association->largest_received = std::max(
      association->largest_received, static_cast<std::uint16_t>(std::min<std::size_t>(datagram.bytes.size, 0xffff)));

  bool taken = true;
  bool eliciting = false;
  bool in_progress = false;
  bool prompt = false;
  const std::uint32_t index = association->slab_index;
  const std::uint32_t generation = association->slab_generation;
  for (std::size_t i = 0; i < frame.packet_count; ++i) {
    const wire::Packet& packet = frame.packets[i];
    if (!on_packet(*association, packet, arrival.destination[i], now)) taken = false;
    if (associations_.find(index, generation) == nullptr) return;  // a packet ended it
    eliciting = eliciting || wants_acknowledgment(packet);
    if (const auto* data = std::get_if<wire::DataPacket>(&packet)) {
      in_progress = in_progress || data->offset + data->payload.size < data->message_length;
    }
    prompt = prompt || std::holds_alternative<wire::PingPacket>(packet) ||
             std::holds_alternative<wire::MtuProbePacket>(packet) ||
             (std::holds_alternative<wire::HelloPacket>(packet) && association->is_client);
  }
  if (taken && !seen) note_received(*association, lane, number, eliciting, in_progress, prompt, now);
}

// Decides when the acknowledgment goes: at once, a fraction of a round trip later while a message is in progress, or
// as late as is allowed, in the hope that something goes that way anyway.
void Endpoint::Core::note_received(Association& association, Lane& lane, std::uint64_t number, bool eliciting,
                                   bool in_progress, bool prompt, Time now) {
  const bool had_gap = lane.received.has_recent_gap();
  lane.received.add(number);
  if (number == lane.received.largest()) lane.largest_arrival = now;
  if (!eliciting) return;
  ++lane.eliciting_unacknowledged;
  if (prompt || lane.eliciting_unacknowledged >= kAckEveryPackets || (!had_gap && lane.received.has_recent_gap())) {
    lane.ack_now = true;
    queue_control(association);
    return;
  }
  // Sooner than was promised (95 % of the setting): the peer's probe waits for the promise, and timers are never exact.
  Duration delay = config.max_ack_delay * 9 / 10;
  const RttEstimator& rtt = association.rtt_of(lane);
  if (in_progress && rtt.has_sample()) delay = std::min(delay, rtt.smoothed() / kAckRttFraction);
  if (defect(Defect::ack_not_sent)) return;
  if (now + delay < lane.ack_deadline) {
    lane.ack_deadline = now + delay;
    arm(association, lane.ack_deadline);
  }
}

// The peer does not know the id that we use for it. Believed only with the echo of a number that we sent and that is
// still unanswered; says by its incarnation whether the process lived on.
void Endpoint::Core::on_no_association(const Datagram& datagram, const wire::FrameHeader& header,
                                       const wire::NoAssociationPacket& packet, Time now) {
  Association* association = by_remote_id_.find({without_peer_shard(header.destination.value), datagram.from});
  const Lane* lane = association == nullptr ? nullptr : association->find_lane(header.lane);
  if (lane == nullptr || packet.packet_number != header.packet_number || association->first_unanswered == kNever) {
    ++counters.no_association_rejected;
    return;
  }
  const std::uint64_t number = wire::expand_packet_number(packet.packet_number, lane->next_number);
  if (number >= lane->next_number || number < lane->first_sent()) {
    ++counters.no_association_rejected;
    return;
  }
  ++counters.no_association_received;
  const bool same_life = packet.incarnation == association->remote_incarnation;
  lose(*association, CallStatus::outcome_unknown, CallStatus::outcome_unknown,
       same_life ? Restart::all_recent : Restart::idempotent, now);
}

void Endpoint::Core::on_close(Association& association, const wire::ClosePacket& packet, Time now) {
  if (!association.open || packet.incarnation != association.remote_incarnation) {
    ++counters.datagrams_malformed;
    return;
  }
  lose(association, CallStatus::peer_closed, CallStatus::peer_closed, Restart::none, now);
}

}  // namespace homa::protocol
