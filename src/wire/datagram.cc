#include "wire/datagram.h"

#include "wire/datagram_codes.h"
#include "wire/endian.h"

namespace homa::wire {
namespace {

constexpr std::uint32_t bit(PacketType type) {
  return std::uint32_t{1} << static_cast<unsigned>(type);
}

// What is left of the two blocks while the packets are taken off the front of both.
struct Blocks {
  const std::byte* header;
  std::size_t header_left;
  const std::byte* payload;
  std::size_t payload_left;

  void skip_header(std::size_t size) {
    header += size;
    header_left -= size;
  }
  bool take_payload(std::size_t size, ByteView& view) {
    if (size > payload_left) return false;
    view = {payload, size};
    payload += size;
    payload_left -= size;
    return true;
  }
};

RpcId load_rpc_id(const std::byte* header) {
  return RpcId::of(load16(header + 2), load32(header + 4));
}

void load_first_fields(const std::byte* header, DataPacket& packet) {
  packet.incoming = load48(header + 22);
  packet.cutoff_version = load16(header + 28);
  const std::uint16_t limit = load16(header + 30);
  packet.response_unscheduled = limit == kNoLimitOnWire ? kNoResponseLimit : limit * kResponseLimitUnit;
  packet.message_class = load8(header + 32);
  packet.call_flags = load8(header + 33);
  packet.deadline_us = load32(header + 34);
}

DecodeError decode_data(Blocks& in, DataPacket& packet) {
  if (in.header_left < kDataHeaderSize) return DecodeError::truncated;
  const std::byte* header = in.header;
  const std::uint8_t flags = load8(header + 1);
  if ((flags & ~(kDataFirstFlag | kDataRetransmissionFlag)) != 0) return DecodeError::reserved_bits;
  packet.retransmission = (flags & kDataRetransmissionFlag) != 0;
  packet.first = (flags & kDataFirstFlag) != 0;
  packet.id = load_rpc_id(header);
  packet.offset = load48(header + 8);
  packet.message_length = load48(header + 14);
  if (packet.first) {
    if (in.header_left < kDataFirstHeaderSize) return DecodeError::truncated;
    load_first_fields(header, packet);
    if ((packet.call_flags & ~kCallFlags) != 0) return DecodeError::reserved_bits;
    in.skip_header(kDataFirstHeaderSize);
  } else {
    in.skip_header(kDataHeaderSize);
  }
  if (!in.take_payload(load16(header + 20), packet.payload)) return DecodeError::truncated;
  if (packet.offset + packet.payload.size > packet.message_length) return DecodeError::bad_value;
  // Offset 0 always carries FIRST; only there may the payload be absent (an announcement, or a message of 0 bytes).
  if (packet.offset == 0 && !packet.first) return DecodeError::bad_value;
  if (packet.offset != 0 && packet.payload.size == 0) return DecodeError::bad_value;
  return DecodeError::none;
}

DecodeError decode_grant(Blocks& in, GrantPacket& packet) {
  if (in.header_left < kGrantSize) return DecodeError::truncated;
  const std::uint8_t flags = load8(in.header + 1);
  if ((flags & ~kGrantHoldFlag) != 0) return DecodeError::reserved_bits;
  const std::uint8_t priority = load8(in.header + 14);
  if (priority >= kPriorityLevels) return DecodeError::bad_value;
  packet.hold = (flags & kGrantHoldFlag) != 0;
  packet.id = load_rpc_id(in.header);
  packet.offset = load48(in.header + 8);
  packet.priority = Priority{priority};
  in.skip_header(kGrantSize);
  return DecodeError::none;
}

DecodeError decode_ack(Blocks& in, AckPacket& packet) {
  if (in.header_left < kAckFixedSize) return DecodeError::truncated;
  const std::byte* header = in.header;
  packet.lane = load8(header + 2);
  if ((packet.lane & kLaneReservedBits) != 0) return DecodeError::reserved_bits;
  packet.range_count = load8(header + 3);
  if (packet.range_count == 0 || packet.range_count > kMaxAckRanges) return DecodeError::bad_value;
  const std::size_t size = kAckFixedSize + (packet.range_count - std::size_t{1}) * kAckRangeSize;
  if (in.header_left < size) return DecodeError::truncated;
  packet.delay_ns = load32(header + 4);
  packet.largest = load32(header + 8);
  packet.congestion_experienced = load32(header + 12);
  packet.ranges[0] = {0, load32(header + 16)};
  if (packet.ranges[0].length == 0) return DecodeError::bad_value;
  std::uint64_t covered = packet.ranges[0].length;
  for (std::size_t i = 1; i < packet.range_count; ++i) {
    const std::byte* at = header + kAckFixedSize + (i - 1) * kAckRangeSize;
    packet.ranges[i] = {load32(at), load32(at + 4)};
    if (packet.ranges[i].gap == 0 || packet.ranges[i].length == 0) return DecodeError::bad_value;
    covered += std::uint64_t{packet.ranges[i].gap} + packet.ranges[i].length;
  }
  // Beyond that, a 32-bit number would name two frames.
  if (covered > (std::uint64_t{1} << 32)) return DecodeError::bad_value;
  in.skip_header(size);
  return DecodeError::none;
}

DecodeError decode_hello(Blocks& in, HelloPacket& packet, bool is_ack) {
  if (in.header_left < kHelloSize) return DecodeError::truncated;
  const std::byte* header = in.header;
  packet.is_ack = is_ack;
  packet.slots = load16(header + 2);
  packet.source = {load64(header + 4)};
  packet.incarnation = load64(header + 12);
  packet.max_message_length = load48(header + 20);
  packet.max_datagram = load16(header + 26);
  packet.unscheduled_bytes = load32(header + 28);
  packet.version_min = load8(header + 32);
  packet.version_max = load8(header + 33);
  packet.max_ack_delay_us = load16(header + 34);
  packet.idle_timeout_ms = load32(header + 36);
  packet.peer_timeout_ms = load32(header + 40);
  // Id 0 cannot be answered: a frame to 0 is a HELLO.
  if (packet.source.value == 0 || packet.version_min > packet.version_max) return DecodeError::bad_value;
  if (is_ack && packet.slots == 0) return DecodeError::bad_value;  // calls there would wait for ever
  in.skip_header(kHelloSize);
  return DecodeError::none;
}

DecodeError decode_no_association(Blocks& in, NoAssociationPacket& packet) {
  if (in.header_left < kNoAssociationSize) return DecodeError::truncated;
  packet.packet_number = load32(in.header + 4);
  packet.incarnation = load64(in.header + 8);
  in.skip_header(kNoAssociationSize);
  return DecodeError::none;
}

DecodeError decode_close(Blocks& in, ClosePacket& packet) {
  if (in.header_left < kCloseSize) return DecodeError::truncated;
  packet.code = load16(in.header + 2);
  packet.incarnation = load64(in.header + 8);
  in.skip_header(kCloseSize);
  return DecodeError::none;
}

DecodeError decode_ping(Blocks& in) {
  if (in.header_left < kPingSize) return DecodeError::truncated;
  in.skip_header(kPingSize);
  return DecodeError::none;
}

DecodeError decode_mtu_probe(Blocks& in, MtuProbePacket& packet) {
  if (in.header_left < kMtuProbeSize) return DecodeError::truncated;
  packet.padding_length = load16(in.header + 2);
  in.skip_header(kMtuProbeSize);
  ByteView padding;
  return in.take_payload(packet.padding_length, padding) ? DecodeError::none : DecodeError::truncated;
}

DecodeError decode_crypto(Blocks& in, CryptoPacket& packet) {
  if (in.header_left < kCryptoSize) return DecodeError::truncated;
  const std::size_t length = load16(in.header + 2);
  packet.offset = load48(in.header + 4);
  in.skip_header(kCryptoSize);
  if (!in.take_payload(length, packet.payload)) return DecodeError::truncated;
  return packet.offset + length <= kMaxMessageLength ? DecodeError::none : DecodeError::bad_value;
}

DecodeError decode_cutoffs(Blocks& in, CutoffsPacket& packet) {
  if (in.header_left < kCutoffsSize) return DecodeError::truncated;
  if (load8(in.header + 1) != kPriorityLevels) return DecodeError::bad_value;
  packet.version = load16(in.header + 2);
  for (std::size_t i = 0; i < packet.cutoffs.size(); ++i) {
    packet.cutoffs[i] = load32(in.header + 4 + 4 * i);
    if (i > 0 && packet.cutoffs[i] > packet.cutoffs[i - 1]) return DecodeError::bad_value;
  }
  in.skip_header(kCutoffsSize);
  return DecodeError::none;
}

DecodeError decode_abort(Blocks& in, AbortPacket& packet, bool is_aborted) {
  if (in.header_left < kAbortSize) return DecodeError::truncated;
  packet.id = load_rpc_id(in.header);
  packet.code = AbortCode{load16(in.header + 8)};
  packet.is_aborted = is_aborted;
  in.skip_header(kAbortSize);
  return DecodeError::none;
}

DecodeError decode_release(Blocks& in, ReleasePacket& packet) {
  if (in.header_left < kReleaseSize) return DecodeError::truncated;
  packet.id = load_rpc_id(in.header);
  in.skip_header(kReleaseSize);
  return DecodeError::none;
}

DecodeError decode_packet(PacketType type, Blocks& in, Packet& packet) {
  switch (type) {
    case PacketType::data:
      return decode_data(in, packet.emplace<DataPacket>());
    case PacketType::ack:
      return decode_ack(in, packet.emplace<AckPacket>());
    case PacketType::grant:
      return decode_grant(in, packet.emplace<GrantPacket>());
    case PacketType::hello:
      return decode_hello(in, packet.emplace<HelloPacket>(), false);
    case PacketType::hello_ack:
      return decode_hello(in, packet.emplace<HelloPacket>(), true);
    case PacketType::no_association:
      return decode_no_association(in, packet.emplace<NoAssociationPacket>());
    case PacketType::close:
      return decode_close(in, packet.emplace<ClosePacket>());
    case PacketType::ping:
      packet.emplace<PingPacket>();
      return decode_ping(in);
    case PacketType::mtu_probe:
      return decode_mtu_probe(in, packet.emplace<MtuProbePacket>());
    case PacketType::crypto:
      return decode_crypto(in, packet.emplace<CryptoPacket>());
    case PacketType::cutoffs:
      return decode_cutoffs(in, packet.emplace<CutoffsPacket>());
    case PacketType::abort:
      return decode_abort(in, packet.emplace<AbortPacket>(), false);
    case PacketType::aborted:
      return decode_abort(in, packet.emplace<AbortPacket>(), true);
    case PacketType::release:
      return decode_release(in, packet.emplace<ReleasePacket>());
  }
  return DecodeError::unknown_type;
}

// Which packets may share a frame, and under which header (docs/wire.md section 3). `seen` has a bit for each type.
bool may_stand_together(const FrameHeader& header, std::uint32_t seen, std::size_t count) {
  constexpr std::uint32_t kSolitary = bit(PacketType::no_association) | bit(PacketType::close);
  if (((seen & bit(PacketType::hello)) != 0) != (header.destination.value == 0)) return false;
  if ((seen & bit(PacketType::hello_ack)) != 0 && header.destination.value == 0) return false;
  if ((seen & kSolitary) != 0 && count != 1) return false;
  return !header.reversed || (seen & bit(PacketType::no_association)) != 0;
}

}  // namespace

DecodeError decode_frame_header(ByteView datagram, FrameHeader& header) {
  if (datagram.size < kFrameHeaderSize) return DecodeError::truncated;
  const std::uint8_t form = load8(datagram.data);
  if ((form & kFormAndVersionMask) != kFormAndVersion) return DecodeError::unknown_form;
  if ((form & kReservedFormBit) != 0) return DecodeError::reserved_bits;
  header.sealed = (form & kSealedBit) != 0;
  header.key_phase = (form & kKeyPhaseBit) != 0;
  header.reversed = (form & kReversedBit) != 0;
  if (header.key_phase && !header.sealed) return DecodeError::reserved_bits;  // means nothing without keys
  const std::uint8_t lane = load8(datagram.data + 1);
  if ((lane & kLaneReservedBits) != 0) return DecodeError::reserved_bits;
  header.lane = Priority{lane};
  header.destination = {load64(datagram.data + 4)};
  header.packet_number = load32(datagram.data + 12);
  return DecodeError::none;
}

DecodeError decode_header_block(const FrameHeader& header, ByteView header_block, ByteView payload_block,
                                Frame& frame) {
  Blocks in{header_block.data, header_block.size, payload_block.data, payload_block.size};
  std::uint32_t seen = 0;
  std::size_t count = 0;
  if (in.header_left == 0) return DecodeError::bad_value;
  for (; in.header_left != 0; ++count) {
    if (count == kMaxPacketsPerFrame) return DecodeError::too_many_packets;
    const PacketType type{load8(in.header)};
    if (const DecodeError error = decode_packet(type, in, frame.packets[count]); error != DecodeError::none) {
      return error;
    }
    if (type == PacketType::hello && count != 0) return DecodeError::bad_value;
    seen |= bit(type);
  }
  if (in.payload_left != 0) return DecodeError::trailing_bytes;
  if (!may_stand_together(header, seen, count)) return DecodeError::bad_value;
  frame.packet_count = count;
  return DecodeError::none;
}

DecodeError decode_frame(ByteView datagram, Frame& frame) {
  const DecodeError error = decode_frame_header(datagram, frame.header);
  if (error != DecodeError::none) return error;
  if (frame.header.sealed) return DecodeError::unknown_form;
  const std::size_t block_size = load16(datagram.data + 2);
  const std::size_t body_size = datagram.size - kFrameHeaderSize;
  if (block_size > body_size) return DecodeError::truncated;
  const std::byte* block = datagram.data + kFrameHeaderSize;
  return decode_header_block(frame.header, {block, block_size}, {block + block_size, body_size - block_size}, frame);
}

DecodeError decode_sealed_layout(ByteView datagram, SealedLayout& layout) {
  const DecodeError error = decode_frame_header(datagram, layout.header);
  if (error != DecodeError::none) return error;
  if (!layout.header.sealed) return DecodeError::unknown_form;
  const std::size_t block_size = load16(datagram.data + 2);
  if (datagram.size - kFrameHeaderSize < block_size + kSealTagSize) return DecodeError::truncated;
  const std::size_t block_end = kFrameHeaderSize + block_size;
  const std::size_t tag_begin = datagram.size - kSealTagSize;
  layout.authenticated = {datagram.data, block_end};
  layout.header_block = {datagram.data + kFrameHeaderSize, block_size};
  layout.ciphertext = {datagram.data + block_end, tag_begin - block_end};
  layout.tag = {datagram.data + tag_begin, kSealTagSize};
  return DecodeError::none;
}

}  // namespace homa::wire
