// Frames out. Control first, then the message that is first in the send queue; decided when the driver can send.
#include <algorithm>

#include "protocol/core.h"
#include "protocol/frame_builder.h"

namespace homa::protocol {
namespace {

constexpr std::array<std::byte, 9216> kZeros{};

}  // namespace

bool Endpoint::Core::next_transmit(Time now, Train& train) {
  run_grants(now);
  if (transmit_stateless(train) || transmit_control(now, train) || transmit_data(now, train)) {
    ++counters.trains_sent;
    counters.datagrams_sent += train.segment_count;
    counters.bytes_sent += train.total_bytes;
    uplink.sent(train.total_bytes, now);
    return true;
  }
  return false;
}

void Endpoint::Core::start_train(const Association& association, Priority priority, Train& train) const {
  train.to = association.remote;
  train.from = association.local;
  train.priority = priority;
  train.ecn = Ecn::not_ect;
  train.is_mtu_probe = false;
  train.association = association.slab_index;
  train.association_generation = association.slab_generation;
  train.first_number = 0;
  train.segment_count = 0;
  train.piece_count = 0;
  train.header_bytes = 0;
  train.total_bytes = 0;
}

bool Endpoint::Core::transmit_stateless(Train& train) {
  if (stateless_.empty()) return false;
  const StatelessFrame& frame = stateless_.front();
  train.to = frame.to;
  train.from = frame.from;
  train.priority = kControlPriority;
  train.ecn = Ecn::not_ect;
  train.is_mtu_probe = false;
  train.association_generation = 0;
  train.segment_count = 1;
  train.piece_count = 0;
  train.header_bytes = train.total_bytes = frame.size;
  std::copy_n(frame.bytes.begin(), frame.size, train.header_arena.begin());
  train.segments[0] = {{train.header_arena.data(), frame.size}, 0, 0, frame.size};
  stateless_.pop_front();
  return true;
}

void Endpoint::Core::queue_control(Association& association) {
  if (!ControlQueue::contains(association)) control_.push_back(association);
}

// Until its address is proven a peer gets no more datagrams than it sent, and at most three times the bytes.
bool Endpoint::Core::may_send(const Association& association, std::size_t bytes) {
  if (association.proven) return true;
  if (association.unproven_datagrams_sent < association.unproven_datagrams_received &&
      association.unproven_sent + bytes <= kAmplification * association.unproven_received) {
    return true;
  }
  ++counters.amplification_limited;
  return false;
}

bool Endpoint::Core::has_due_control(const Association& association, Time now) const {
  if (association.hello_pending) return true;
  if (!association.open) return false;
  if (association.hello_ack_pending || !association.grants.empty() || !association.control.empty() ||
      association.mtu_probe_pending != 0) {
    return true;
  }
  if (association.cutoffs_pending && !association.is_client) return true;
  for (const auto& lane : association.lanes) {
    if (lane && (lane->ping_pending || lane->ack_due(now))) return true;
  }
  return false;
}

bool Endpoint::Core::transmit_control(Time now, Train& train) {
  while (Association* association = control_.front()) {
    if (has_due_control(*association, now) && build_control(*association, now, train)) {
      if (!has_due_control(*association, now)) control_.discard(*association);
      return true;
    }
    control_.discard(*association);  // nothing due, or may not be answered more: the next arrival queues it again
  }
  return false;
}

// One frame of small packets. A PING for another lane needs a frame of that lane.
bool Endpoint::Core::build_control(Association& association, Time now, Train& train) {
  constexpr std::size_t kHandshakeReserve =
      wire::kFrameHeaderSize + wire::kHelloSize + wire::kCutoffsSize + wire::kAckFixedSize;
  if (!may_send(association, kHandshakeReserve)) return false;
  if (association.mtu_probe_pending != 0) return send_mtu_probe(association, now, train);
  Priority priority = kControlPriority;
  for (const auto& lane : association.lanes) {
    if (lane && lane->ping_pending) priority = lane->priority;
  }
  start_train(association, priority, train);
  const wire::NativeHeader native = native_header(association);
  FrameBuilder frame(train, association.mtu.datagram_size(), is_native() ? &native : nullptr);
  put_hello(association, frame, now);
  if (is_native()) {
    put_control(association, frame, now);
  } else if (association.open) {
    Lane& lane = association.lane(priority);
    if (lane.ping_pending) {
      lane.ping_pending = false;
      frame.put(wire::PingPacket{});
      frame.note(*this, ContentKind::ping);
      ++counters.pings_sent;
    }
    put_acks(association, frame, now);
    put_control(association, frame, now);
    if (!association.proven) put_first_response(association, frame, now);
  }
  if (frame.empty()) return false;
  if (!frame.eliciting() && !is_native()) ++counters.acks_bare_sent;
  finish_frame(association, frame, now);
  return true;
}

void Endpoint::Core::put_hello(Association& association, FrameBuilder& frame, Time now) {
  if (!association.hello_pending && !association.hello_ack_pending) return;
  wire::HelloPacket hello;
  hello.is_ack = association.hello_ack_pending;
  hello.slots = config.slots;
  hello.source = association.local_id;
  hello.incarnation = config.incarnation;
  hello.max_message_length = config.max_message_length;
  hello.max_datagram = config.max_datagram;
  hello.unscheduled_bytes = config.unscheduled_bytes;
  hello.version_min = hello.version_max = wire::kVersion;
  hello.max_ack_delay_us = static_cast<std::uint16_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(config.max_ack_delay * 95 / 100).count());
  hello.idle_timeout_ms =
      static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(config.idle_timeout).count());
  hello.peer_timeout_ms =
      static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(config.peer_timeout).count());
  frame.put(hello);
  if (hello.is_ack) {
    // Not noted: it goes again when the HELLO comes again, never by a timer of ours.
    association.hello_ack_pending = false;
    return;
  }
  association.hello_pending = false;
  ++counters.hellos_sent;
  frame.note(*this, ContentKind::hello);
  // The first waiting call may ride along when it may run twice and fits (0-RTT, architecture section 4).
  Rpc* first = association.waiting.front();
  if (first != nullptr && first->idempotent && association.slots.empty() &&
      first->out.length() <= frame.payload_room(wire::kDataFirstHeaderSize) &&
      pieces_needed(first->out, {0, first->out.length()}) <= kMaxTrainPieces) {
    association.waiting.pop_front();
    association.slots.emplace_back();
    first->out.hold = false;
    give_slot(association, *first, 0, now);
    first->out.limit = first->out.unscheduled = first->out.length();
    first->out.announce = first->out.length() == 0;
    send_queue_.remove(*first);
  }
  Rpc* riding = association.slots.empty() ? nullptr : association.slots[0].rpc;
  if (riding != nullptr && riding->state == RpcState::active &&
      (riding->out.announce || !riding->out.lost.empty() || riding->out.next == 0)) {
    put_data(*riding, frame, now);
    send_queue_.remove(*riding);
  }
}

// A response that is ready when HELLO_ACK goes rides along, if what an unproven address may get allows it: a whole
// exchange in one round trip.
void Endpoint::Core::put_first_response(Association& association, FrameBuilder& frame, Time now) {
  for (Rpc* rpc = association.rpcs.front(); rpc != nullptr; rpc = AssociationRpcs::next(*rpc)) {
    OutMessage& out = rpc->out;
    if (rpc->state != RpcState::responding || out.next > 0 || out.limit < out.length()) continue;
    const std::uint64_t size = frame.size() + wire::kDataFirstHeaderSize + out.length();
    if (out.length() > frame.payload_room(wire::kDataFirstHeaderSize) ||
        association.unproven_sent + size > kAmplification * association.unproven_received) {
      continue;
    }
    put_data(*rpc, frame, now);
    return;
  }
}

void Endpoint::Core::put_acks(Association& association, FrameBuilder& frame, Time now) {
  for (const auto& lane : association.lanes) {
    if (!lane || !lane->ack_wanted()) continue;
    if (frame.room() < wire::kAckFixedSize) return;
    if (defect(Defect::ack_not_sent) && !frame.eliciting()) continue;
    wire::AckPacket ack;
    ack.lane = wire::lane_byte(lane->priority);
    ack.delay_ns =
        static_cast<std::uint32_t>(std::clamp<Duration::rep>((now - lane->largest_arrival).count(), 0, 0xffffffff));
    ack.congestion_experienced = lane->congestion_experienced;
    lane->received.report(ack, 1 + (frame.room() - wire::kAckFixedSize) / wire::kAckRangeSize);
    frame.put_ack(ack);
    lane->ack_now = false;
    lane->ack_deadline = kNever;
    lane->eliciting_unacknowledged = 0;
    ++counters.acks_sent;
  }
}

void Endpoint::Core::put_control(Association& association, FrameBuilder& frame, Time) {
  if (association.cutoffs_pending && frame.room() >= wire::kNativeCutoffsSize) {
    association.cutoffs_pending = false;
    association.cutoffs_told = unscheduled_.version();
    wire::CutoffsPacket cutoffs;
    cutoffs.version = unscheduled_.version();
    cutoffs.cutoffs = unscheduled_.cutoffs();
    frame.put(cutoffs);
    // To an unproven client it goes again with the next HELLO_ACK, not by a timer.
    if (association.proven) frame.note(*this, ContentKind::cutoffs);
    ++counters.cutoffs_sent;
  }
  if (is_native()) association.control.clear();  // nothing there says them: no ABORT, no RELEASE on that carrier
  while (!association.control.empty() && frame.room() >= wire::kAbortSize) {
    const ControlItem item = association.control.front();
    association.control.pop_front();
    if (item.kind == ContentKind::release) {
      frame.put(wire::ReleasePacket{item.id});
    } else {
      frame.put(wire::AbortPacket{item.id, item.code, item.kind == ContentKind::aborted});
      ++counters.aborts_sent;
    }
    Content& content = frame.note(*this, item.kind);
    content.length = static_cast<std::uint16_t>(item.code);
    content.value = item.id.value;
  }
  while (Rpc* rpc = association.grants.front()) {
    if (frame.room() < wire::kNativeGrantSize) return;  // the larger of the two carriers' forms
    association.grants.pop_front();
    InMessage& in = rpc->in;
    in.grant_pending = false;
    if (in.complete || !in.known || (is_native() && in.held)) continue;
    frame.put(wire::GrantPacket{rpc->id, in.held ? 0 : in.authorised, in.granted_priority, in.held});
    frame.note(*this, ContentKind::grant, *rpc);
    ++(in.held ? counters.holds_sent : counters.grants_sent);
  }
}

bool Endpoint::Core::send_mtu_probe(Association& association, Time now, Train& train) {
  const std::uint16_t size = association.mtu_probe_pending;
  association.mtu_probe_pending = 0;
  start_train(association, kControlPriority, train);
  train.is_mtu_probe = true;
  FrameBuilder frame(train, size, nullptr);
  const std::size_t padding = size - wire::kFrameHeaderSize - wire::kMtuProbeSize;
  HOMA_ASSERT(padding <= kZeros.size());
  frame.put(wire::MtuProbePacket{static_cast<std::uint16_t>(padding)});
  frame.note(*this, ContentKind::mtu_probe).length = size;
  train.pieces[train.piece_count++] = {kZeros.data(), padding};
  frame.segment().piece_count = 1;
  frame.add_payload(padding);
  ++counters.mtu_probes_sent;
  finish_frame(association, frame, now);
  return true;
}

// --- data --------------------------------------------------------------------------------------------------------

Priority Endpoint::Core::data_priority(const Rpc& rpc, std::uint64_t offset) const {
  return offset < rpc.out.unscheduled || rpc.out.length() == 0 ? rpc.out.unscheduled_priority
                                                               : rpc.out.scheduled_priority;
}

// What the message sends next when a packet has `room` bytes for its DATA header and payload: lost bytes first.
ByteRange Endpoint::Core::next_range(const OutMessage& message, std::size_t room) const {
  const ByteRange source = message.lost.empty() ? ByteRange{message.next, message.limit} : message.lost[0];
  if (message.announce && message.lost.empty()) return {0, 0};
  const std::size_t header = data_header_size(source.begin);
  const std::size_t payload = room > header ? room - header : 0;
  std::uint64_t end = std::min(source.end, source.begin + payload);
  // Native: a packet boundary falls on the unscheduled limit, as in Linux.
  if (is_native() && source.begin < message.unscheduled) end = std::min(end, message.unscheduled);
  return {source.begin, end};
}

std::size_t Endpoint::Core::pieces_needed(OutMessage& message, ByteRange range) {
  const Payload& payload = message.payload;
  if (range.begin < message.piece_begin) message.piece = 0, message.piece_begin = 0;
  while (message.piece < payload.piece_count &&
         range.begin >= message.piece_begin + payload.pieces[message.piece].size) {
    message.piece_begin += payload.pieces[message.piece++].size;
  }
  std::size_t count = 0;
  std::uint64_t begin = message.piece_begin;
  for (std::uint32_t i = message.piece; i < payload.piece_count && begin < range.end; ++i, ++count) {
    begin += payload.pieces[i].size;
  }
  return range.empty() ? 0 : count;
}

// Where the next `count` pieces end. Precondition: pieces_needed() was just asked.
std::uint64_t Endpoint::Core::end_of_pieces(const OutMessage& message, std::size_t count) {
  std::uint64_t end = message.piece_begin;
  for (std::size_t i = 0; i < count; ++i) end += message.payload.pieces[message.piece + i].size;
  return end;
}

// Precondition: pieces_needed() was asked for this range and that many fit.
void Endpoint::Core::append_pieces(OutMessage& message, ByteRange range, Train& train, Segment& segment) {
  std::uint64_t begin = message.piece_begin;
  for (std::uint32_t i = message.piece; begin < range.end; ++i) {
    const ByteView& piece = message.payload.pieces[i];
    const std::uint64_t from = std::max(begin, range.begin);
    const std::uint64_t to = std::min(begin + piece.size, range.end);
    if (to > from) {
      train.pieces[train.piece_count++] = {piece.data + (from - begin), to - from};
      ++segment.piece_count;
    }
    begin += piece.size;
  }
}

// One DATA packet of this message into the frame; false when nothing fits.
bool Endpoint::Core::put_data(Rpc& rpc, FrameBuilder& frame, Time now) {
  OutMessage& out = rpc.out;
  const std::size_t header_room = frame.payload_room(0);
  ByteRange range = next_range(out, header_room);
  const bool announcement = out.announce && out.lost.empty();
  const std::size_t header = data_header_size(range.begin);
  if (header_room < header || frame.room() < header || (range.empty() && !announcement)) return false;
  Train& train = frame.train();
  const std::size_t room_for_pieces = kMaxTrainPieces - train.piece_count;
  if (pieces_needed(out, range) > room_for_pieces) {
    range.end = end_of_pieces(out, room_for_pieces);  // small pieces make small packets
    if (range.empty()) return false;
  }

  wire::DataPacket data;
  data.id = rpc.id;
  data.offset = range.begin;
  data.message_length = out.length();
  data.payload.size = range.length();
  data.first = range.begin == 0 || is_native();
  if (announcement) {
    data.retransmission = out.announced;
    out.announce = false;
    out.announced = true;
  } else if (!out.lost.empty()) {
    data.retransmission = true;
    out.lost.remove(range);
  } else {
    out.next = range.end;
  }
  if (rpc.is_caller && rpc.first_sent == kNever) {
    rpc.first_sent = now;
    rpc.response_limit = response_limit();  // now, not at start(): calls started together count each other
  }
  if (data.first) {
    data.incoming = out.limit;
    data.cutoff_version = out.cutoff_version;
    data.message_class = rpc.message_class;
    if (rpc.is_caller) {
      data.response_unscheduled = rpc.response_limit;
      data.call_flags = static_cast<std::uint8_t>((rpc.one_way ? wire::kCallOneWay : 0) |
                                                  (rpc.idempotent ? wire::kCallIdempotent : 0));
      if (rpc.deadline != kNever) {
        const auto left = std::chrono::duration_cast<std::chrono::microseconds>(rpc.deadline - now).count();
        data.deadline_us = static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 1, 0xffffffff));
      }
    }
  }
  ++(data.retransmission ? counters.data_resent : counters.data_sent);
  frame.put_data(data);
  ByteRange read = range;
  if (defect(Defect::retransmit_wrong_offset) && data.retransmission && range.begin > 0) {
    read = {range.begin - 1, range.end - 1};
    static_cast<void>(pieces_needed(out, read));
  }
  if (!read.empty()) append_pieces(out, read, train, frame.segment());
  Content& content = frame.note(*this, ContentKind::data, rpc);
  content.length = static_cast<std::uint16_t>(range.length());
  content.value = range.begin;
  return true;
}

// Packing: what shortest-first would send next anyway, to the same peer at the same priority, rides along.
void Endpoint::Core::put_more_data(Association& association, Priority priority, FrameBuilder& frame, Time now) {
  while (Rpc* next = send_queue_.first()) {
    if (next->association != &association) return;
    OutMessage& out = next->out;
    // Only messages that end in this frame: a cut would cost a header and gain nothing.
    const std::uint64_t left = out.lost.empty() ? out.length() - out.next : out.lost[0].length();
    const bool whole = out.lost.empty() ? out.limit == out.length() : true;
    const std::uint64_t at = out.lost.empty() ? out.next : out.lost[0].begin;
    if (data_priority(*next, at) != priority || !whole) return;
    if (left > frame.payload_room(wire::kDataFirstHeaderSize) || frame.room() < wire::kDataFirstHeaderSize) return;
    if (!put_data(*next, frame, now)) return;
    refresh_sending(*next);
  }
}

bool Endpoint::Core::transmit_data(Time now, Train& train) {
  if (send_queue_.empty() || uplink.next_start() > now) return false;
  constexpr std::uint64_t kOldestQuantum = 4096;
  Rpc& rpc = *send_queue_.next(kOldestQuantum);
  Association& association = *rpc.association;
  OutMessage& out = rpc.out;
  const std::size_t datagram = association.mtu.datagram_size();
  const std::size_t least = (config.fixed_policy.in_force() ? 1 : 2) * datagram;
  const std::uint64_t most = uplink.train_bytes(least, kMaxTrainBytes);
  const auto offset_of_next = [&] { return out.lost.empty() ? out.next : out.lost[0].begin; };
  const Priority priority = data_priority(rpc, offset_of_next());
  start_train(association, priority, train);
  if (!is_native()) train.first_number = association.lane(priority).next_number;
  const wire::NativeHeader native = native_header(association);

  while (out.sendable() && FrameBuilder::fits(train) && data_priority(rpc, offset_of_next()) == priority) {
    const std::size_t capacity = train.segment_count == 0 ? datagram : train.segment_size();
    if (train.total_bytes + capacity > most && train.segment_count > 0) break;
    FrameBuilder frame(train, capacity, is_native() ? &native : nullptr);
    if (!put_data(rpc, frame, now)) break;
    const bool is_last = frame.size() < capacity;
    if (is_last && !is_native()) {
      refresh_sending(rpc);
      put_acks(association, frame, now);
      if (association.open) put_control(association, frame, now);
      put_more_data(association, priority, frame, now);
    }
    finish_frame(association, frame, now);
    if (is_last) break;
  }
  if (!is_native() || train.segment_count == 0) refresh_sending(rpc);
  if (train.segment_count == 0) return false;
  send_queue_.sent(train.total_bytes);
  if (is_native()) {
    native_sent(rpc, now);
    return true;
  }
  if (const std::uint16_t size = association.mtu.next_probe(now); size != 0) {
    association.mtu_probe_pending = size;
    queue_control(association);
  }
  return true;
}

// Numbers the frame and remembers what was in it.
void Endpoint::Core::finish_frame(Association& association, FrameBuilder& frame, Time now) {
  Train& train = frame.train();
  ++association.traffic.sent;
  if (is_native()) return frame.finish({});
  Lane& lane = association.lane(train.priority);
  wire::FrameHeader header;
  header.lane = train.priority;
  header.destination = association.remote_id;
  header.packet_number = static_cast<std::uint32_t>(lane.next_number);
  frame.finish(header);

  const std::uint16_t size = train.segments[train.segment_count - 1].size;
  if (train.segment_count == 1) train.first_number = lane.next_number;
  ++lane.next_number;
  // When nothing is to be remembered the ring stays empty and first_sent() moves on.
  if (frame.eliciting() || !lane.sent.empty()) {
    SentPacket& sent = lane.sent.append();
    sent.sent = now;
    sent.content = frame.contents();
    sent.size = size;
    if (frame.eliciting()) sent.state = SentState::in_flight;
  }
  if (frame.eliciting()) {
    ++lane.in_flight;
    lane.last_eliciting_sent = now;
    if (association.first_unanswered == kNever) association.first_unanswered = now;
  }
  if (!association.proven) {
    ++association.unproven_datagrams_sent;
    association.unproven_sent += size;
  } else if (frame.eliciting()) {
    arm(association, probe_deadline(association, lane));
    if (!association.is_client) arm(association, association.last_heard + config.peer_timeout);
  }
}

}  // namespace homa::protocol
