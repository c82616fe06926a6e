#include "testing/hostile.h"

#include <algorithm>

#include "testing/addresses.h"
#include "wire/datagram.h"

namespace homa::sim {
namespace {

void append(std::vector<std::byte>& bytes, const wire::FrameHeader& header, const wire::Packet& packet) {
  const std::size_t size = wire::encoded_size(packet);
  bytes.resize(wire::kFrameHeaderSize + size);
  wire::encode_frame_header(header, size, bytes.data());
  wire::encode_packet(packet, bytes.data() + wire::kFrameHeaderSize);
}

}  // namespace

HostileTraffic::HostileTraffic(Medium& medium, Sink& into, const HostileSettings& settings, std::uint64_t seed)
    : medium_(medium), into_(into), settings_(settings), rng_(seed) {}

void HostileTraffic::schedule() {
  if (sent_ >= settings_.most || settings_.targets.empty()) return;
  const auto gap = static_cast<double>(settings_.mean_gap.count()) * 2 * rng_.unit();
  const Time when = medium_.loop.now() + Duration(static_cast<Duration::rep>(gap) + 1);
  if (when < settings_.end) medium_.loop.at(when, *this);
}

Address HostileTraffic::source(bool spoofed) {
  if (spoofed && !settings_.participants.empty())
    return settings_.participants[rng_.below(settings_.participants.size())];
  return {foreign_address(settings_.targets[0].host, static_cast<std::uint8_t>(rng_.below(250) + 1)),
          static_cast<std::uint16_t>(1024 + rng_.below(60000))};
}

void HostileTraffic::garbage(std::vector<std::byte>& bytes) {
  bytes.resize(rng_.chance(0.2) ? rng_.below(8) : rng_.below(1500));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng_.next());
  if (bytes.empty() || rng_.chance(0.3)) return;
  bytes[0] = std::byte{0x90};  // our form and version: gets past the first look
  if (bytes.size() > 1) bytes[1] &= std::byte{7};
}

void HostileTraffic::hello(std::vector<std::byte>& bytes, bool cut) {
  wire::HelloPacket packet;
  packet.is_ack = rng_.chance(0.2);
  packet.slots = static_cast<std::uint16_t>(rng_.next());
  packet.source.value = rng_.next();
  packet.incarnation = rng_.next();
  packet.max_message_length = rng_.next() & wire::kMaxMessageLength;
  packet.max_datagram = static_cast<std::uint16_t>(rng_.next());
  packet.unscheduled_bytes = static_cast<std::uint32_t>(rng_.next());
  packet.version_min = 1;
  packet.version_max = rng_.chance(0.9) ? std::uint8_t{1} : std::uint8_t{0};
  packet.max_ack_delay_us = 1000;
  packet.idle_timeout_ms = 30000;
  wire::FrameHeader header;
  header.lane = kControlPriority;
  header.packet_number = 1;
  if (packet.is_ack) header.destination.value = rng_.next();
  append(bytes, header, packet);
  if (cut) bytes.resize(rng_.below(bytes.size()));
}

void HostileTraffic::forged_frame(std::vector<std::byte>& bytes) {
  wire::FrameHeader header;
  header.lane = Priority{static_cast<std::uint8_t>(rng_.below(8))};
  header.destination.value = rng_.next();
  header.packet_number = static_cast<std::uint32_t>(rng_.below(100));
  header.reversed = rng_.chance(0.3);
  switch (rng_.below(4)) {
    case 0: {
      wire::NoAssociationPacket packet;
      packet.packet_number = static_cast<std::uint32_t>(rng_.below(100));
      packet.incarnation = rng_.next();
      header.reversed = true;
      return append(bytes, header, packet);
    }
    case 1: {
      wire::ClosePacket packet;
      packet.incarnation = rng_.next();
      return append(bytes, header, packet);
    }
    case 2: {
      wire::AckPacket packet;
      packet.largest = static_cast<std::uint32_t>(rng_.next());
      packet.range_count = 1;
      packet.ranges[0].length = 1 + static_cast<std::uint32_t>(rng_.below(1000));
      return append(bytes, header, packet);
    }
    default: {
      wire::GrantPacket packet;
      packet.id = wire::RpcId::of(static_cast<std::uint16_t>(rng_.below(16)), 1);
      packet.offset = wire::kMaxMessageLength;
      return append(bytes, header, packet);
    }
  }
}

void HostileTraffic::on_event(std::uint8_t, std::uint64_t) {
  Parcel* parcel = medium_.pool.take();
  parcel->hostile = true;
  parcel->priority = Priority{static_cast<std::uint8_t>(rng_.below(8))};
  const std::uint64_t kind = rng_.below(4);
  if (kind == 0) garbage(parcel->bytes);
  if (kind == 1) hello(parcel->bytes, false);
  if (kind == 2) hello(parcel->bytes, true);
  if (kind == 3) forged_frame(parcel->bytes);
  // A forged whole HELLO in a participant's name draws its answer on the participant: only foreign names for those.
  parcel->from = source(kind != 1 && rng_.chance(0.3));
  parcel->to = settings_.targets[rng_.below(settings_.targets.size())];
  parcel->sent = medium_.loop.now();
  ++sent_;
  medium_.sent(*parcel);
  into_.receive(parcel);
  schedule();
}

}  // namespace homa::sim
