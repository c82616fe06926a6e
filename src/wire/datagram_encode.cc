// The writing half of the datagram codec; the reading half is datagram.cc.
#include <algorithm>

#include "base/assert.h"
#include "wire/datagram.h"
#include "wire/datagram_codes.h"
#include "wire/endian.h"

namespace homa::wire {
namespace {

void store_head(std::byte* out, PacketType type, std::uint8_t flags) {
  store8(out, static_cast<std::uint8_t>(type));
  store8(out + 1, flags);
}

void store_rpc_head(std::byte* out, PacketType type, std::uint8_t flags, RpcId id) {
  HOMA_ASSERT(id.value >> 48 == 0);
  store_head(out, type, flags);
  store16(out + 2, id.slot());
  store32(out + 4, id.generation());
}

// Rounded down, so that the peer never sends more than was asked for; past the largest value it stays there.
std::uint16_t response_limit_on_wire(std::uint32_t limit) {
  if (limit == kNoResponseLimit) return kNoLimitOnWire;
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(limit / kResponseLimitUnit, kNoLimitOnWire - 1));
}

std::size_t encode(const GrantPacket& packet, std::byte* out) {
  HOMA_ASSERT(packet.offset <= kMaxMessageLength && index(packet.priority) < kPriorityLevels);
  store_rpc_head(out, PacketType::grant, packet.hold ? kGrantHoldFlag : 0, packet.id);
  store48(out + 8, packet.offset);
  store8(out + 14, static_cast<std::uint8_t>(packet.priority));
  store8(out + 15, 0);
  return kGrantSize;
}

std::size_t encode(const AckPacket& packet, std::byte* out) {
  return encode_ack(packet, out);
}

std::size_t encode(const HelloPacket& packet, std::byte* out) {
  HOMA_ASSERT(packet.source.value != 0 && packet.max_message_length <= kMaxMessageLength);
  store_head(out, packet.is_ack ? PacketType::hello_ack : PacketType::hello, 0);
  store16(out + 2, packet.slots);
  store64(out + 4, packet.source.value);
  store64(out + 12, packet.incarnation);
  store48(out + 20, packet.max_message_length);
  store16(out + 26, packet.max_datagram);
  store32(out + 28, packet.unscheduled_bytes);
  store8(out + 32, packet.version_min);
  store8(out + 33, packet.version_max);
  store16(out + 34, packet.max_ack_delay_us);
  store32(out + 36, packet.idle_timeout_ms);
  store32(out + 40, packet.peer_timeout_ms);
  store32(out + 44, 0);
  return kHelloSize;
}

std::size_t encode(const NoAssociationPacket& packet, std::byte* out) {
  store32(out, 0);
  store_head(out, PacketType::no_association, 0);
  store32(out + 4, packet.packet_number);
  store64(out + 8, packet.incarnation);
  return kNoAssociationSize;
}

std::size_t encode(const ClosePacket& packet, std::byte* out) {
  store_head(out, PacketType::close, 0);
  store16(out + 2, packet.code);
  store32(out + 4, 0);
  store64(out + 8, packet.incarnation);
  return kCloseSize;
}

std::size_t encode(const PingPacket&, std::byte* out) {
  store32(out, 0);
  store_head(out, PacketType::ping, 0);
  return kPingSize;
}

std::size_t encode(const MtuProbePacket& packet, std::byte* out) {
  store_head(out, PacketType::mtu_probe, 0);
  store16(out + 2, packet.padding_length);
  return kMtuProbeSize;
}

std::size_t encode(const CryptoPacket& packet, std::byte* out) {
  HOMA_ASSERT(packet.payload.size <= 0xffff && packet.offset + packet.payload.size <= kMaxMessageLength);
  store_head(out, PacketType::crypto, 0);
  store16(out + 2, static_cast<std::uint16_t>(packet.payload.size));
  store48(out + 4, packet.offset);
  store16(out + 10, 0);
  return kCryptoSize;
}

std::size_t encode(const CutoffsPacket& packet, std::byte* out) {
  store_head(out, PacketType::cutoffs, kPriorityLevels);
  store16(out + 2, packet.version);
  for (std::size_t i = 0; i < packet.cutoffs.size(); ++i) store32(out + 4 + 4 * i, packet.cutoffs[i]);
  return kCutoffsSize;
}

std::size_t encode(const AbortPacket& packet, std::byte* out) {
  store_rpc_head(out, packet.is_aborted ? PacketType::aborted : PacketType::abort, 0, packet.id);
  store16(out + 8, static_cast<std::uint16_t>(packet.code));
  store16(out + 10, 0);
  return kAbortSize;
}

std::size_t encode(const ReleasePacket& packet, std::byte* out) {
  store_rpc_head(out, PacketType::release, 0, packet.id);
  return kReleaseSize;
}

std::size_t encode(const DataPacket& packet, std::byte* out) {
  return encode_data(packet, out);
}

// Whatever only the native carrier has.
template <typename Native>
std::size_t encode(const Native&, std::byte*) {
  HOMA_ASSERT(false && "a packet of the native carrier has no place in a datagram frame");
  return 0;
}

std::size_t size_of(const DataPacket& packet) {
  return packet.first ? kDataFirstHeaderSize : kDataHeaderSize;
}
std::size_t size_of(const AckPacket& packet) {
  return packet.range_count == 0 ? kAckFixedSize
                                 : kAckFixedSize + (packet.range_count - std::size_t{1}) * kAckRangeSize;
}
std::size_t size_of(const GrantPacket&) {
  return kGrantSize;
}
std::size_t size_of(const HelloPacket&) {
  return kHelloSize;
}
std::size_t size_of(const NoAssociationPacket&) {
  return kNoAssociationSize;
}
std::size_t size_of(const ClosePacket&) {
  return kCloseSize;
}
std::size_t size_of(const PingPacket&) {
  return kPingSize;
}
std::size_t size_of(const MtuProbePacket&) {
  return kMtuProbeSize;
}
std::size_t size_of(const CryptoPacket&) {
  return kCryptoSize;
}
std::size_t size_of(const CutoffsPacket&) {
  return kCutoffsSize;
}
std::size_t size_of(const AbortPacket&) {
  return kAbortSize;
}
std::size_t size_of(const ReleasePacket&) {
  return kReleaseSize;
}
template <typename Native>
std::size_t size_of(const Native&) {
  return 0;
}

}  // namespace

std::size_t encoded_size(const Packet& packet) {
  return std::visit([](const auto& alternative) { return size_of(alternative); }, packet);
}

std::size_t payload_size(const Packet& packet) {
  if (const auto* data = std::get_if<DataPacket>(&packet)) return data->payload.size;
  if (const auto* crypto = std::get_if<CryptoPacket>(&packet)) return crypto->payload.size;
  if (const auto* probe = std::get_if<MtuProbePacket>(&packet)) return probe->padding_length;
  return 0;
}

std::size_t encode_packet(const Packet& packet, std::byte* out) {
  return std::visit([out](const auto& alternative) { return encode(alternative, out); }, packet);
}

std::size_t encode_data(const DataPacket& packet, std::byte* out) {
  HOMA_ASSERT(packet.message_length <= kMaxMessageLength && packet.payload.size <= 0xffff);
  HOMA_ASSERT(packet.offset + packet.payload.size <= packet.message_length);
  HOMA_ASSERT(packet.first || (packet.offset != 0 && packet.payload.size != 0));
  const unsigned flags = (packet.first ? kDataFirstFlag : 0U) | (packet.retransmission ? kDataRetransmissionFlag : 0U);
  store_rpc_head(out, PacketType::data, static_cast<std::uint8_t>(flags), packet.id);
  store48(out + 8, packet.offset);
  store48(out + 14, packet.message_length);
  store16(out + 20, static_cast<std::uint16_t>(packet.payload.size));
  if (!packet.first) return kDataHeaderSize;
  HOMA_ASSERT(packet.incoming <= kMaxMessageLength);
  store48(out + 22, packet.incoming);
  store16(out + 28, packet.cutoff_version);
  store16(out + 30, response_limit_on_wire(packet.response_unscheduled));
  store8(out + 32, packet.message_class);
  store8(out + 33, packet.call_flags);
  store32(out + 34, packet.deadline_us);
  return kDataFirstHeaderSize;
}

std::size_t encode_ack(const AckPacket& packet, std::byte* out) {
  HOMA_ASSERT(packet.range_count >= 1 && packet.range_count <= kMaxAckRanges);
  store_head(out, PacketType::ack, 0);
  store8(out + 2, packet.lane);
  store8(out + 3, packet.range_count);
  store32(out + 4, packet.delay_ns);
  store32(out + 8, packet.largest);
  store32(out + 12, packet.congestion_experienced);
  store32(out + 16, packet.ranges[0].length);
  std::byte* at = out + kAckFixedSize;
  for (std::size_t i = 1; i < packet.range_count; ++i, at += kAckRangeSize) {
    store32(at, packet.ranges[i].gap);
    store32(at + 4, packet.ranges[i].length);
  }
  return static_cast<std::size_t>(at - out);
}

void encode_frame_header(const FrameHeader& header, std::size_t header_block_length, std::byte* out) {
  HOMA_ASSERT(header_block_length <= 0xffff && index(header.lane) < kPriorityLevels);
  const unsigned form = kFormAndVersion | (header.sealed ? kSealedBit : 0U) | (header.key_phase ? kKeyPhaseBit : 0U) |
                        (header.reversed ? kReversedBit : 0U);
  store8(out, static_cast<std::uint8_t>(form));
  store8(out + 1, lane_byte(header.lane));
  store16(out + 2, static_cast<std::uint16_t>(header_block_length));
  store64(out + 4, header.destination.value);
  store32(out + 12, header.packet_number);
}

}  // namespace homa::wire
