#include "random_packets.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace homa::wire::test {

RandomPackets::RandomPackets(std::uint64_t seed) : rng_(seed), pool_(2048) {
  for (auto& byte : pool_) byte = static_cast<std::byte>(rng_.next());
}

std::uint64_t RandomPackets::number(int bits) {
  const std::uint64_t largest = ~std::uint64_t{0} >> (64 - bits);
  switch (rng_.below(8)) {
    case 0:
      return 0;
    case 1:
      return largest;
    default:
      return (rng_.next() & largest) >> rng_.below(static_cast<std::uint64_t>(bits));
  }
}

template <typename Integer>
Integer RandomPackets::number() {
  return static_cast<Integer>(number(std::numeric_limits<Integer>::digits));
}

ByteView RandomPackets::payload(std::size_t max) {
  const std::size_t size = std::min<std::size_t>({max, rng_.below(1500), rng_.below(1500)});
  return {pool_.data() + rng_.below(pool_.size() - size + 1), size};
}

DataPacket RandomPackets::data() {
  DataPacket packet;
  packet.id = datagram_id();
  packet.message_length = number(48);
  packet.payload = payload(packet.message_length);
  const std::uint64_t room = packet.message_length - packet.payload.size;
  packet.offset = packet.payload.size == 0 ? 0 : rng_.chance(0.2) ? room : rng_.below(room + 1);
  packet.retransmission = rng_.chance(0.3);
  packet.first = packet.offset == 0 || rng_.chance(0.3);
  if (!packet.first) return packet;
  packet.incoming = number(48);
  packet.cutoff_version = number<std::uint16_t>();
  const std::uint64_t limit = rng_.below(0x10000);
  packet.response_unscheduled =
      limit == 0xffff ? kNoResponseLimit : static_cast<std::uint32_t>(limit) * kResponseLimitUnit;
  packet.message_class = number<std::uint8_t>();
  packet.call_flags = static_cast<std::uint8_t>(rng_.below(4));
  packet.deadline_us = number<std::uint32_t>();
  return packet;
}

AckPacket RandomPackets::ack() {
  AckPacket packet;
  packet.lane = static_cast<std::uint8_t>(rng_.below(8));
  packet.delay_ns = number<std::uint32_t>();
  packet.largest = number<std::uint32_t>();
  packet.congestion_experienced = number<std::uint32_t>();
  packet.range_count = static_cast<std::uint8_t>(1 + rng_.below(kMaxAckRanges));
  for (std::size_t i = 0; i < packet.range_count; ++i) {
    packet.ranges[i].gap = i == 0 ? 0 : static_cast<std::uint32_t>(1 + number(24));
    packet.ranges[i].length = static_cast<std::uint32_t>(1 + number(24));
  }
  return packet;
}

HelloPacket RandomPackets::hello(bool is_ack) {
  HelloPacket packet;
  packet.is_ack = is_ack;
  packet.slots = static_cast<std::uint16_t>(number<std::uint16_t>() | (is_ack ? 1 : 0));
  packet.source.value = number(64) | 1;
  packet.incarnation = number(64);
  packet.max_message_length = number(48);
  packet.max_datagram = number<std::uint16_t>();
  packet.unscheduled_bytes = number<std::uint32_t>();
  packet.version_max = number<std::uint8_t>();
  packet.version_min = static_cast<std::uint8_t>(rng_.below(packet.version_max + std::uint64_t{1}));
  packet.max_ack_delay_us = number<std::uint16_t>();
  packet.idle_timeout_ms = number<std::uint32_t>();
  packet.peer_timeout_ms = number<std::uint32_t>();
  return packet;
}

CutoffsPacket RandomPackets::cutoffs() {
  CutoffsPacket packet;
  packet.version = number<std::uint16_t>();
  for (auto& cutoff : packet.cutoffs) cutoff = number<std::uint32_t>();
  return packet;
}

Packet RandomPackets::datagram_packet() {
  switch (rng_.below(9)) {
    case 0:
      return GrantPacket{datagram_id(), number(48), Priority{static_cast<std::uint8_t>(rng_.below(8))},
                         rng_.chance(0.2)};
    case 1:
      return ack();
    case 2:
      return PingPacket{};
    case 3:
      return MtuProbePacket{static_cast<std::uint16_t>(rng_.below(2000))};
    case 4: {
      const std::uint64_t offset = number(40);
      return CryptoPacket{offset, payload(1500)};
    }
    case 5: {
      CutoffsPacket packet = cutoffs();
      std::sort(packet.cutoffs.begin(), packet.cutoffs.end(), std::greater<>());
      return packet;
    }
    case 6:
      return AbortPacket{datagram_id(), AbortCode{number<std::uint16_t>()}, rng_.chance(0.5)};
    case 7:
      return ReleasePacket{datagram_id()};
    default:
      return data();
  }
}

void RandomPackets::frame(Frame& frame) {
  frame.header = FrameHeader{};
  frame.header.lane = Priority{static_cast<std::uint8_t>(rng_.below(8))};
  frame.header.destination.value = number(64) | 1;
  frame.header.packet_number = number<std::uint32_t>();
  frame.packet_count = rng_.chance(0.1) ? kMaxPacketsPerFrame : 1 + rng_.below(4);
  for (std::size_t i = 0; i < frame.packet_count; ++i) frame.packets[i] = datagram_packet();
  switch (rng_.below(10)) {
    case 0:
      frame.header.destination.value = 0;
      frame.packets[0] = hello(false);
      break;
    case 1:
      frame.packets[0] = hello(true);
      break;
    case 2:
      frame.packet_count = 1;
      frame.header.reversed = rng_.chance(0.8);
      frame.packets[0] = NoAssociationPacket{number<std::uint32_t>(), number(64)};
      break;
    case 3:
      frame.packet_count = 1;
      frame.packets[0] = ClosePacket{number<std::uint16_t>(), number(64)};
      break;
    default:
      break;
  }
}

NativeHeader RandomPackets::native_header(bool is_data) {
  NativeHeader header;
  header.source_port = static_cast<std::uint16_t>(number<std::uint16_t>() | 1);
  header.destination_port = static_cast<std::uint16_t>(number<std::uint16_t>() | 1);
  header.from_server = rng_.chance(0.5);
  header.checksum = number<std::uint16_t>();
  if (!is_data) return header;
  header.offset_place = OffsetPlace{static_cast<std::uint8_t>(rng_.below(3))};
  if (header.offset_place == OffsetPlace::segmented) header.train_offset = number<std::uint32_t>();
  return header;
}

Packet RandomPackets::native_packet() {
  const RpcId id{number(63)};
  switch (rng_.below(10)) {
    case 0:
      return GrantPacket{id, number(32), Priority{static_cast<std::uint8_t>(rng_.below(8))}, false};
    case 1:
      return ResendPacket{id, number<std::uint32_t>(), rng_.chance(0.5) ? -1 : static_cast<std::int32_t>(number(31)),
                          Priority{static_cast<std::uint8_t>(rng_.below(8))}};
    case 2:
      return RpcUnknownPacket{id};
    case 3:
      return BusyPacket{id};
    case 4: {
      CutoffsPacket packet = cutoffs();
      packet.native_id = id;
      return packet;
    }
    case 5:
      return FreezePacket{id};
    case 6:
      return NeedAckPacket{id};
    case 7: {
      NativeAckPacket packet{id, static_cast<std::uint16_t>(rng_.below(6)), {}};
      for (std::size_t i = 0; i < packet.count; ++i) packet.entries[i] = {number(64), number<std::uint16_t>()};
      return packet;
    }
    default: {
      DataPacket packet = data();
      packet = DataPacket{id, packet.offset & 0xffffffff, 0, packet.payload, packet.retransmission, true};
      if (packet.payload.size == 0) packet.offset = 0;
      packet.offset = std::min<std::uint64_t>(packet.offset, 0xffffffff - packet.payload.size);
      const std::uint64_t end = packet.offset + packet.payload.size;
      packet.message_length = end + rng_.below(0x100000000 - end);
      packet.incoming = number(32);
      packet.cutoff_version = number<std::uint16_t>();
      packet.native_ack.value = number(63);
      packet.native_ack_port = number<std::uint16_t>();
      return packet;
    }
  }
}

}  // namespace homa::wire::test
