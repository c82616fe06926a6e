#include "simulation/protocol_host.h"

#include <algorithm>

#include "simulation/packet_format.h"
#include "simulation/policy.h"
#include "wire/endian.h"
#include "wire/native.h"

namespace homa::simulation {
namespace {

// docs/wire.md section 7: where a native packet says its type, and a DATA packet its offset.
constexpr std::size_t kNativeTypeAt = 11;
constexpr std::size_t kNativeSequenceAt = 4;
constexpr std::uint8_t kNativeData = 0x10;

/// Bytes of wire of a native packet in the paper's format.
std::uint32_t native_wire_bytes(const protocol::Segment& segment, std::uint32_t unscheduled_bytes) {
  if (static_cast<std::uint8_t>(segment.header.data[kNativeTypeAt]) != kNativeData) {
    // GRANT fits the smallest frame in their format as in ours.
    return frame_of(static_cast<std::uint32_t>(segment.size > wire::kNativeGrantSize ? segment.size : 0));
  }
  const auto offset = wire::load32(segment.header.data + kNativeSequenceAt);
  const auto payload = static_cast<std::uint32_t>(segment.size - wire::kNativeDataHeaderSize);
  return native_data_frame(payload, offset >= unscheduled_bytes);
}

protocol::Config with_incarnation(protocol::Config config, std::uint64_t seed) {
  config.incarnation = mix64(seed) | 1;
  return config;
}

}  // namespace

Address address_of_host(std::uint32_t host) {
  return {HostAddress::v4(10, static_cast<std::uint8_t>(host >> 16), static_cast<std::uint8_t>(host >> 8),
                          static_cast<std::uint8_t>(host)),
          kHostPort};
}

std::uint32_t host_of_address(const HostAddress& address) {
  return std::uint32_t{address.ip[13]} << 16 | std::uint32_t{address.ip[14]} << 8 | address.ip[15];
}

ProtocolHost::ProtocolHost(std::uint32_t number, std::uint64_t seed, HostSetting& setting)
    : number_(number),
      setting_(setting),
      endpoint_(with_incarnation(setting.config, seed), mix64(seed + 1), *setting.space),
      loss_(seed + 2) {}

void ProtocolHost::attach(Fabric& fabric) {
  fabric_ = &fabric;
  uplink_ = &fabric.uplink(number_);
  delivery_lead_ = fabric.topology().delivery_lead;
}

protocol::Payload ProtocolHost::payload(std::uint64_t length) {
  if (free_pieces_.empty()) {
    pieces_.push_back(std::make_unique<ByteView>());
    free_pieces_.push_back(pieces_.back().get());
  }
  ByteView* piece = free_pieces_.back();
  free_pieces_.pop_back();
  *piece = {setting_.space->base(), length};
  return {piece, 1, length, reinterpret_cast<std::uintptr_t>(piece)};
}

void ProtocolHost::start(std::uint32_t destination, std::uint64_t length, std::uint64_t cookie, bool one_way) {
  protocol::CallOptions options;
  options.cookie = cookie;
  options.one_way = one_way;
  const auto result = endpoint_.start(setting_.addresses[destination], payload(length), options, now());
  HOMA_ASSERT(result.error == protocol::StartError::none);
  serve();
}

void ProtocolHost::start_one_way(std::uint32_t destination, std::uint64_t length, std::uint64_t cookie) {
  start(destination, length, cookie, true);
}

void ProtocolHost::start_call(std::uint32_t destination, std::uint64_t length, std::uint64_t cookie) {
  start(destination, length, cookie, false);
}

void ProtocolHost::reply(protocol::RequestId request, std::uint64_t length) {
  const protocol::Payload response = payload(length);
  if (!endpoint_.reply(request, response, now())) {
    free_pieces_.push_back(reinterpret_cast<ByteView*>(response.cookie));
  }
  serve();
}

void ProtocolHost::on_event(std::uint8_t kind, std::uint64_t argument) {
  if (kind == kPacketArrives) return receive(reinterpret_cast<Packet*>(argument));
  if (argument != generation_) return;
  armed_ = kNever;
  serve();
}

void ProtocolHost::receive(Packet* packet) {
  if (setting_.loss_rate > 0 && loss_.chance(setting_.loss_rate)) {
    ++setting_.random_losses;
    return fabric_->pool().give(packet);
  }
  std::memcpy(setting_.frame.data(), packet->header(), packet->header_size);
  const protocol::Datagram datagram{setting_.addresses[packet->source],
                                    setting_.addresses[number_].host,
                                    packet->ecn,
                                    {setting_.frame.data(), packet->size}};
  protocol::Arrival& arrival = setting_.arrival;
  if (endpoint_.place(datagram, arrival, now())) {
    note_arrival(*packet);
    // Nobody copies payload; the core is told that it lies where it belongs.
    for (std::size_t i = 0; i < arrival.frame.packet_count; ++i) arrival.destination[i] = setting_.space->base();
    endpoint_.commit(datagram, arrival, now());
  }
  fabric_->pool().give(packet);
  serve();
}

void ProtocolHost::note_arrival(const Packet& packet) {
  TrafficStatistics& traffic = setting_.traffic;
  traffic.priority_bytes[static_cast<std::size_t>(index(packet.priority))] += packet.wire_bytes;
  bool granting = false;
  for (std::size_t i = 0; i < setting_.arrival.frame.packet_count; ++i) {
    const wire::Packet& part = setting_.arrival.frame.packets[i];
    if (const auto* data = std::get_if<wire::DataPacket>(&part)) {
      const bool scheduled = data->offset >= setting_.config.unscheduled_bytes;
      (scheduled ? traffic.scheduled_bytes : traffic.unscheduled_bytes) += packet.wire_bytes;
      if (data->retransmission) traffic.retransmitted_bytes += packet.wire_bytes;
      return;
    }
    granting = granting || std::holds_alternative<wire::GrantPacket>(part);
  }
  (granting ? traffic.grant_bytes : traffic.acknowledgment_bytes) += packet.wire_bytes;
}

void ProtocolHost::serve() {
  serve_again_ = true;
  if (serving_) return;
  serving_ = true;
  while (serve_again_) {
    serve_again_ = false;
    if (endpoint_.next_timer() <= now()) endpoint_.advance(now());
    drain_events();
    pump();
    drain_events();
  }
  serving_ = false;
  arm();
}

void ProtocolHost::drain_events() {
  protocol::Event event;
  while (endpoint_.next_event(event, now())) {
    using Kind = protocol::Event::Kind;
    HostListener& listener = *setting_.listener;
    const Time delivered = now() - delivery_lead_;
    if (event.kind == Kind::payload_released) {
      free_pieces_.push_back(reinterpret_cast<ByteView*>(event.payload_cookie));
      continue;
    }
    if (event.message.data != nullptr) endpoint_.release_message(event.message, now());
    if (event.kind == Kind::one_way) {
      listener.one_way_arrived(*this, host_of_address(event.peer.host), event.message.length, delivered);
    } else if (event.kind == Kind::request) {
      listener.request_arrived(*this, event.request, event.message.length);
    } else if (event.kind == Kind::call_finished) {
      listener.finished(*this, event.cookie, event.status, event.message.length, delivered);
    }
  }
}

// The core knows what its card still has to send, and holds back what should not queue there.
void ProtocolHost::pump() {
  for (;;) {
    const Time free_at = uplink_->free_at();
    const Duration busy = free_at > now() ? free_at - now() : Duration::zero();
    endpoint_.report_backlog(setting_.config.uplink.bytes_in(busy) + uplink_->waiting_bytes(), now());
    if (!endpoint_.next_transmit(now(), setting_.train)) return;
    for (std::size_t s = 0; s < setting_.train.segment_count; ++s) {
      send(setting_.train.segments[s], setting_.train);
    }
  }
}

void ProtocolHost::send(const protocol::Segment& segment, const protocol::Train& train) {
  Packet* packet = fabric_->pool().take();
  packet->source = number_;
  packet->destination = host_of_address(train.to.host);
  packet->size = segment.size;
  packet->wire_bytes =
      setting_.native ? native_wire_bytes(segment, setting_.config.unscheduled_bytes) : frame_of(segment.size);
  packet->priority = train.priority;
  packet->queue = fabric_->queue_of(train.priority);
  packet->ecn = setting_.ecn_capable ? Ecn::ect0 : train.ecn;
  packet->tail = Time{};
  packet->set_header(segment.header.data, segment.header.size);
  uplink_->enqueue(packet);
}

void ProtocolHost::arm() {
  const Time next = endpoint_.next_deadline();
  if (next == armed_) return;
  ++generation_;
  armed_ = next;
  if (next == kNever) return;
  fabric_->loop().at(next, *this, kTimer, generation_);
}

}  // namespace homa::simulation
