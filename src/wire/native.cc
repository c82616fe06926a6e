#include "wire/native.h"

#include <array>
#include <cstring>

#include "base/assert.h"
#include "wire/endian.h"

namespace homa::wire {
namespace {

enum class Type : std::uint8_t {
  data = 0x10,
  grant = 0x11,
  resend = 0x12,
  rpc_unknown = 0x13,
  busy = 0x14,
  cutoffs = 0x15,
  freeze = 0x16,
  need_ack = 0x17,
  ack = 0x18,
};

// Constants of every packet that Linux sends. They make the header look like TCP's (SYN and RST both set, which TCP
// never does) to network cards that segment, and to receivers that accept Homa under TCP's protocol number.
constexpr std::uint8_t kFlags = 0x06;
constexpr std::uint16_t kUrgent = 0xb97d;
constexpr std::uint8_t kDataOffset = 14 << 4;
constexpr std::uint8_t kSegmentedDataOffset = 13 << 4;  // segments repeat all but the 4 bytes of the offset field
constexpr std::uint8_t kControlDataOffset = 5 << 4;
constexpr std::uint32_t kOffsetInSequence = 0xffffffff;
constexpr std::uint32_t kTcpProtocol = 6;

constexpr std::size_t kChecksumAt = 16;
constexpr std::size_t kAckEntriesAt = 30;
constexpr std::size_t kAckEntrySize = 10;

std::uint64_t raw_id(RpcId id, bool from_server) {
  return (id.value << 1) | (from_server ? 1U : 0U);
}
RpcId load_rpc_id(const std::byte* at) {
  return {load64(at) >> 1};
}

void decode_data_offset(const std::byte* in, NativeHeader& header, DataPacket& packet) {
  const std::uint32_t sequence = load32(in + 4);
  const std::uint32_t field = load32(in + 52);
  header.train_offset = 0;
  if (field == kOffsetInSequence) {
    header.offset_place = OffsetPlace::sequence_only;
    packet.offset = sequence;
  } else if (field == sequence && load8(in + 12) != kSegmentedDataOffset) {
    header.offset_place = OffsetPlace::both;
    packet.offset = field;
  } else {
    header.offset_place = OffsetPlace::segmented;
    header.train_offset = sequence;
    packet.offset = field;
  }
}

DecodeError decode_data(ByteView in, NativeHeader& header, DataPacket& packet) {
  if (in.size < kNativeDataHeaderSize) return DecodeError::truncated;
  decode_data_offset(in.data, header, packet);
  packet.id = load_rpc_id(in.data + 20);
  packet.message_length = load32(in.data + 28);
  packet.first = true;
  packet.incoming = load32(in.data + 32);
  packet.native_ack = load_rpc_id(in.data + 36);
  packet.native_ack_port = load16(in.data + 44);
  packet.cutoff_version = load16(in.data + 46);
  packet.retransmission = load8(in.data + 48) != 0;
  packet.payload = {in.data + kNativeDataHeaderSize, in.size - kNativeDataHeaderSize};
  if (packet.offset + packet.payload.size > packet.message_length) return DecodeError::bad_value;
  if (packet.payload.size == 0 && packet.offset != 0) return DecodeError::bad_value;
  return DecodeError::none;
}

DecodeError decode_grant(ByteView in, GrantPacket& packet) {
  if (in.size < kNativeGrantSize) return DecodeError::truncated;
  packet.id = load_rpc_id(in.data + 20);
  packet.offset = load32(in.data + 28);
  packet.priority = Priority{load8(in.data + 32)};
  return index(packet.priority) < kPriorityLevels ? DecodeError::none : DecodeError::bad_value;
}

DecodeError decode_resend(ByteView in, ResendPacket& packet) {
  if (in.size < kNativeResendSize) return DecodeError::truncated;
  packet.id = load_rpc_id(in.data + 20);
  packet.offset = load32(in.data + 28);
  packet.length = static_cast<std::int32_t>(load32(in.data + 32));
  packet.priority = Priority{load8(in.data + 36)};
  if (packet.length < -1 || index(packet.priority) >= kPriorityLevels) return DecodeError::bad_value;
  return DecodeError::none;
}

DecodeError decode_cutoffs(ByteView in, CutoffsPacket& packet) {
  if (in.size < kNativeCutoffsSize) return DecodeError::truncated;
  for (std::size_t i = 0; i < packet.cutoffs.size(); ++i) packet.cutoffs[i] = load32(in.data + 28 + 4 * i);
  packet.version = load16(in.data + 60);
  packet.native_id = load_rpc_id(in.data + 20);
  return DecodeError::none;
}

// Linux sends all slots; the published draft lets the unused ones go.
DecodeError decode_ack(ByteView in, NativeAckPacket& packet) {
  if (in.size < kAckEntriesAt) return DecodeError::truncated;
  packet.id = load_rpc_id(in.data + 20);
  packet.count = load16(in.data + 28);
  if (packet.count > packet.entries.size()) return DecodeError::bad_value;
  if (in.size < kAckEntriesAt + packet.count * kAckEntrySize) return DecodeError::truncated;
  for (std::size_t i = 0; i < packet.count; ++i) {
    const std::byte* at = in.data + kAckEntriesAt + i * kAckEntrySize;
    packet.entries[i] = {load64(at), load16(at + 8)};
  }
  return DecodeError::none;
}

template <typename Alternative>
DecodeError decode_bare(ByteView in, Packet& packet) {
  packet.emplace<Alternative>().id = load_rpc_id(in.data + 20);
  return DecodeError::none;
}

void store_common(const NativeHeader& header, Type type, RpcId id, std::byte* out) {
  store16(out, header.source_port);
  store16(out + 2, header.destination_port);
  store64(out + 4, static_cast<std::uint8_t>(type));  // sequence 0, three unused bytes, type
  store8(out + 12, kControlDataOffset);
  store8(out + 13, kFlags);
  store16(out + 14, 0);
  store16(out + kChecksumAt, header.checksum);
  store16(out + 18, kUrgent);
  store64(out + 20, raw_id(id, header.from_server));
}

void store_data_offset(const NativeHeader& header, std::uint32_t offset, std::byte* out) {
  const bool segmented = header.offset_place == OffsetPlace::segmented;
  store32(out + 4, segmented ? header.train_offset : offset);
  store8(out + 12, segmented ? kSegmentedDataOffset : kDataOffset);
  store32(out + 52, header.offset_place == OffsetPlace::sequence_only ? kOffsetInSequence : offset);
}

std::size_t encode(const NativeHeader& header, const DataPacket& packet, std::byte* out) {
  HOMA_ASSERT(packet.first && packet.message_length <= 0xffffffff && packet.incoming <= 0xffffffff);
  HOMA_ASSERT(packet.offset + packet.payload.size <= packet.message_length);
  store_common(header, Type::data, packet.id, out);
  store_data_offset(header, static_cast<std::uint32_t>(packet.offset), out);
  store32(out + 28, static_cast<std::uint32_t>(packet.message_length));
  store32(out + 32, static_cast<std::uint32_t>(packet.incoming));
  store64(out + 36, raw_id(packet.native_ack, false));
  store16(out + 44, packet.native_ack_port);
  store16(out + 46, packet.cutoff_version);
  store32(out + 48, 0);
  store8(out + 48, packet.retransmission ? 1 : 0);
  return kNativeDataHeaderSize;
}

std::size_t encode(const NativeHeader& header, const GrantPacket& packet, std::byte* out) {
  HOMA_ASSERT(packet.offset <= 0xffffffff);
  store_common(header, Type::grant, packet.id, out);
  store32(out + 28, static_cast<std::uint32_t>(packet.offset));
  store8(out + 32, static_cast<std::uint8_t>(packet.priority));
  return kNativeGrantSize;
}

std::size_t encode(const NativeHeader& header, const ResendPacket& packet, std::byte* out) {
  store_common(header, Type::resend, packet.id, out);
  store32(out + 28, packet.offset);
  store32(out + 32, static_cast<std::uint32_t>(packet.length));
  store8(out + 36, static_cast<std::uint8_t>(packet.priority));
  return kNativeResendSize;
}

std::size_t encode(const NativeHeader& header, const CutoffsPacket& packet, std::byte* out) {
  store_common(header, Type::cutoffs, packet.native_id, out);
  for (std::size_t i = 0; i < packet.cutoffs.size(); ++i) store32(out + 28 + 4 * i, packet.cutoffs[i]);
  store16(out + 60, packet.version);
  return kNativeCutoffsSize;
}

std::size_t encode(const NativeHeader& header, const NativeAckPacket& packet, std::byte* out) {
  HOMA_ASSERT(packet.count <= packet.entries.size());
  store_common(header, Type::ack, packet.id, out);
  store16(out + 28, packet.count);
  for (std::size_t i = 0; i < packet.entries.size(); ++i) {
    const NativeAckPacket::Entry entry = i < packet.count ? packet.entries[i] : NativeAckPacket::Entry{};
    store64(out + kAckEntriesAt + i * kAckEntrySize, entry.raw_id);
    store16(out + kAckEntriesAt + i * kAckEntrySize + 8, entry.server_port);
  }
  return kNativeAckSize;
}

std::size_t encode_bare(const NativeHeader& header, Type type, RpcId id, std::byte* out) {
  store_common(header, type, id, out);
  return kNativeCommonSize;
}
std::size_t encode(const NativeHeader& header, const RpcUnknownPacket& packet, std::byte* out) {
  return encode_bare(header, Type::rpc_unknown, packet.id, out);
}
std::size_t encode(const NativeHeader& header, const BusyPacket& packet, std::byte* out) {
  return encode_bare(header, Type::busy, packet.id, out);
}
std::size_t encode(const NativeHeader& header, const FreezePacket& packet, std::byte* out) {
  return encode_bare(header, Type::freeze, packet.id, out);
}
std::size_t encode(const NativeHeader& header, const NeedAckPacket& packet, std::byte* out) {
  return encode_bare(header, Type::need_ack, packet.id, out);
}
template <typename DatagramOnly>
std::size_t encode(const NativeHeader&, const DatagramOnly&, std::byte*) {
  HOMA_ASSERT(false && "a packet of the datagram carrier has no native form");
  return 0;
}

std::size_t size_of(const DataPacket&) {
  return kNativeDataHeaderSize;
}
std::size_t size_of(const GrantPacket&) {
  return kNativeGrantSize;
}
std::size_t size_of(const ResendPacket&) {
  return kNativeResendSize;
}
std::size_t size_of(const CutoffsPacket&) {
  return kNativeCutoffsSize;
}
std::size_t size_of(const NativeAckPacket&) {
  return kNativeAckSize;
}
std::size_t size_of(const RpcUnknownPacket&) {
  return kNativeCommonSize;
}
std::size_t size_of(const BusyPacket&) {
  return kNativeCommonSize;
}
std::size_t size_of(const FreezePacket&) {
  return kNativeCommonSize;
}
std::size_t size_of(const NeedAckPacket&) {
  return kNativeCommonSize;
}
template <typename DatagramOnly>
std::size_t size_of(const DatagramOnly&) {
  return 0;
}

// Sum of 16-bit words, not yet folded; 64 bits take 2^32 words of 32 bits without overflow. An odd byte counts as the
// high half of a last word (RFC 1071).
std::uint64_t word_sum(const std::byte* at, std::size_t size) {
  std::uint64_t sum = 0;
  for (; size >= 4; at += 4, size -= 4) sum += load32(at);
  if (size >= 2) {
    sum += load16(at);
    at += 2;
    size -= 2;
  }
  if (size != 0) sum += std::uint64_t{load8(at)} << 8;
  return sum;
}

std::uint64_t address_sum(const HostAddress& host, bool v4) {
  std::array<std::byte, 16> bytes{};
  std::memcpy(bytes.data(), host.ip.data(), bytes.size());
  return v4 ? word_sum(bytes.data() + 12, 4) : word_sum(bytes.data(), 16);
}

}  // namespace

DecodeError decode_native(ByteView ip_payload, NativeHeader& header, Packet& packet) {
  if (ip_payload.size < kNativeCommonSize) return DecodeError::truncated;
  const std::byte* in = ip_payload.data;
  header.source_port = load16(in);
  header.destination_port = load16(in + 2);
  header.checksum = load16(in + kChecksumAt);
  header.from_server = (load64(in + 20) & 1) != 0;
  header.offset_place = OffsetPlace::both;
  header.train_offset = 0;
  const Type type{load8(in + 11)};
  // FREEZE speaks to the host, not to a socket.
  if (header.source_port == 0 || (header.destination_port == 0 && type != Type::freeze)) return DecodeError::bad_value;
  switch (type) {
    case Type::data:
      return decode_data(ip_payload, header, packet.emplace<DataPacket>());
    case Type::grant:
      return decode_grant(ip_payload, packet.emplace<GrantPacket>());
    case Type::resend:
      return decode_resend(ip_payload, packet.emplace<ResendPacket>());
    case Type::rpc_unknown:
      return decode_bare<RpcUnknownPacket>(ip_payload, packet);
    case Type::busy:
      return decode_bare<BusyPacket>(ip_payload, packet);
    case Type::cutoffs:
      return decode_cutoffs(ip_payload, packet.emplace<CutoffsPacket>());
    case Type::freeze:
      return decode_bare<FreezePacket>(ip_payload, packet);
    case Type::need_ack:
      return decode_bare<NeedAckPacket>(ip_payload, packet);
    case Type::ack:
      return decode_ack(ip_payload, packet.emplace<NativeAckPacket>());
  }
  return DecodeError::unknown_type;
}

std::size_t native_size(const Packet& packet) {
  return std::visit([](const auto& alternative) { return size_of(alternative); }, packet);
}

std::size_t encode_native(const NativeHeader& header, const Packet& packet, std::byte* out) {
  return std::visit([&](const auto& alternative) { return encode(header, alternative, out); }, packet);
}

std::uint16_t native_checksum(const HostAddress& source, const HostAddress& destination, ByteView header,
                              ByteView payload) {
  HOMA_ASSERT(source.is_v4() == destination.is_v4() && header.size >= kNativeCommonSize);
  HOMA_ASSERT(header.size % 2 == 0 || payload.size == 0);
  const bool v4 = source.is_v4();
  std::uint64_t sum = address_sum(source, v4) + address_sum(destination, v4);
  sum += kTcpProtocol + header.size + payload.size;
  sum += word_sum(header.data, header.size) + word_sum(payload.data, payload.size);
  sum -= load16(header.data + kChecksumAt);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void store_native_checksum(std::byte* header, std::uint16_t checksum) {
  store16(header + kChecksumAt, checksum);
}

}  // namespace homa::wire
