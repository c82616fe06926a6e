#include "wire_support.h"

#include <cstdlib>
#include <cstring>
#include <tuple>

namespace homa::wire::test {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  std::abort();
}

ByteView payload_of(const Packet& packet) {
  if (const auto* data = std::get_if<DataPacket>(&packet)) return data->payload;
  if (const auto* crypto = std::get_if<CryptoPacket>(&packet)) return crypto->payload;
  return {};
}

void append(Bytes& bytes, ByteView more) {
  bytes.insert(bytes.end(), more.data, more.data + more.size);
}

bool same_bytes(ByteView a, ByteView b) {
  return a.size == b.size && (a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0);
}

// One overload per packet: all that travels, as a tuple. Payloads are compared apart.
auto fields(const DataPacket& p) {
  return std::make_tuple(p.id.value, p.offset, p.message_length, p.retransmission, p.first, p.incoming,
                         p.cutoff_version, p.response_unscheduled, p.message_class, p.call_flags, p.deadline_us,
                         p.native_ack.value, p.native_ack_port);
}
auto fields(const GrantPacket& p) {
  return std::make_tuple(p.id.value, p.offset, p.priority, p.hold);
}
auto fields(const AckPacket& p) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  for (std::size_t i = 0; i < p.range_count; ++i) ranges.emplace_back(p.ranges[i].gap, p.ranges[i].length);
  return std::make_tuple(p.lane, p.delay_ns, p.largest, p.congestion_experienced, ranges);
}
auto fields(const HelloPacket& p) {
  return std::make_tuple(p.is_ack, p.slots, p.source.value, p.incarnation, p.max_message_length, p.max_datagram,
                         p.unscheduled_bytes, p.version_min, p.version_max, p.max_ack_delay_us, p.idle_timeout_ms,
                         p.peer_timeout_ms);
}
auto fields(const NoAssociationPacket& p) {
  return std::make_tuple(p.packet_number, p.incarnation);
}
auto fields(const ClosePacket& p) {
  return std::make_tuple(p.code, p.incarnation);
}
auto fields(const PingPacket&) {
  return std::make_tuple();
}
auto fields(const MtuProbePacket& p) {
  return std::make_tuple(p.padding_length);
}
auto fields(const CryptoPacket& p) {
  return std::make_tuple(p.offset);
}
auto fields(const CutoffsPacket& p) {
  return std::make_tuple(p.version, p.cutoffs, p.native_id.value);
}
auto fields(const AbortPacket& p) {
  return std::make_tuple(p.id.value, p.code, p.is_aborted);
}
auto fields(const ReleasePacket& p) {
  return std::make_tuple(p.id.value);
}
auto fields(const ResendPacket& p) {
  return std::make_tuple(p.id.value, p.offset, p.length, p.priority);
}
auto fields(const RpcUnknownPacket& p) {
  return std::make_tuple(p.id.value);
}
auto fields(const BusyPacket& p) {
  return std::make_tuple(p.id.value);
}
auto fields(const FreezePacket& p) {
  return std::make_tuple(p.id.value);
}
auto fields(const NeedAckPacket& p) {
  return std::make_tuple(p.id.value);
}
auto fields(const NativeAckPacket& p) {
  std::vector<std::pair<std::uint64_t, std::uint16_t>> entries;
  for (std::size_t i = 0; i < p.count; ++i) entries.emplace_back(p.entries[i].raw_id, p.entries[i].server_port);
  return std::make_tuple(p.id.value, entries);
}

}  // namespace

Bytes bytes_of(std::string_view hex) {
  Bytes bytes;
  int high = -1;
  for (const char c : hex) {
    if (c == ' ') continue;
    if (high < 0) {
      high = digit(c);
    } else {
      bytes.push_back(static_cast<std::byte>(high * 16 + digit(c)));
      high = -1;
    }
  }
  if (high >= 0) std::abort();
  return bytes;
}

Bytes encode_frame(const FrameHeader& header, const Packet* packets, std::size_t count) {
  Bytes frame(kFrameHeaderSize);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = frame.size();
    frame.resize(at + encoded_size(packets[i]));
    if (encode_packet(packets[i], frame.data() + at) != frame.size() - at) std::abort();
  }
  encode_frame_header(header, frame.size() - kFrameHeaderSize, frame.data());
  for (std::size_t i = 0; i < count; ++i) {
    const ByteView payload = payload_of(packets[i]);
    append(frame, payload);
    frame.resize(frame.size() + payload_size(packets[i]) - payload.size);  // the zeros of an MTU_PROBE
  }
  return frame;
}

Bytes encode_native_packet(const NativeHeader& header, const Packet& packet) {
  Bytes bytes(native_size(packet));
  if (encode_native(header, packet, bytes.data()) != bytes.size()) std::abort();
  append(bytes, payload_of(packet));
  return bytes;
}

bool same(const Packet& a, const Packet& b) {
  if (a.index() != b.index() || !same_bytes(payload_of(a), payload_of(b))) return false;
  return std::visit(
      [&b](const auto& alternative) {
        return fields(alternative) == fields(std::get<std::decay_t<decltype(alternative)>>(b));
      },
      a);
}

bool same(const FrameHeader& a, const FrameHeader& b) {
  return a.sealed == b.sealed && a.key_phase == b.key_phase && a.reversed == b.reversed && a.lane == b.lane &&
         a.destination == b.destination && a.packet_number == b.packet_number;
}

bool same(const Frame& a, const Frame& b) {
  if (!same(a.header, b.header) || a.packet_count != b.packet_count) return false;
  for (std::size_t i = 0; i < a.packet_count; ++i) {
    if (!same(a.packets[i], b.packets[i])) return false;
  }
  return true;
}

bool same(const NativeHeader& a, const NativeHeader& b) {
  return a.source_port == b.source_port && a.destination_port == b.destination_port && a.from_server == b.from_server &&
         a.checksum == b.checksum && a.offset_place == b.offset_place && a.train_offset == b.train_offset;
}

}  // namespace homa::wire::test
