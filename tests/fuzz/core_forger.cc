#include "core_forger.h"

#include <algorithm>

#include "core_host.h"

namespace homa::fuzz {
namespace {

std::uint64_t draw_incarnation(Input& input, std::uint64_t incarnations) {
  return input.byte() % incarnations;
}

wire::AckPacket draw_ack(Input& input) {
  wire::AckPacket ack;
  ack.lane = input.byte() & 7u;
  ack.delay_ns = static_cast<std::uint32_t>(input.boundary());
  ack.largest = static_cast<std::uint32_t>(input.byte() < 200 ? input.byte() : input.boundary());
  ack.range_count = static_cast<std::uint8_t>(1 + input.byte() % 3);
  for (std::size_t i = 0; i < ack.range_count; ++i) {
    ack.ranges[i] = {i == 0 ? 0u : std::uint32_t{input.byte()} + 1,
                     static_cast<std::uint32_t>(std::max<std::uint64_t>(1, input.boundary()))};
  }
  return ack;
}

wire::CutoffsPacket draw_cutoffs(Input& input) {
  wire::CutoffsPacket cutoffs;
  cutoffs.version = input.byte();
  std::uint64_t value = 0xffffffff;
  for (auto& cutoff : cutoffs.cutoffs) cutoff = static_cast<std::uint32_t>(value = std::min(value, input.boundary()));
  return cutoffs;
}

wire::DataPacket draw_data(Input& input, wire::RpcId id) {
  wire::DataPacket data;
  data.id = id;
  data.message_length = input.boundary();
  data.offset = std::min(input.boundary(), data.message_length);
  const std::uint64_t payload = std::min<std::uint64_t>(input.boundary(), 1400);
  data.payload = {kPattern.bytes.data(), std::min(payload, data.message_length - data.offset)};
  data.first = data.offset == 0 || data.payload.size == 0 || (input.byte() & 1u) != 0;
  data.incoming = input.boundary();
  data.call_flags = input.byte() & 3u;
  data.response_unscheduled = static_cast<std::uint32_t>(input.boundary());
  data.message_class = input.byte();
  data.deadline_us = static_cast<std::uint32_t>(input.boundary());
  return data;
}

}  // namespace

wire::HelloPacket draw_hello(Input& input, std::uint64_t incarnations) {
  wire::HelloPacket hello;
  hello.slots = static_cast<std::uint16_t>(input.boundary());
  hello.source = {1 + input.number(2)};
  hello.incarnation = draw_incarnation(input, incarnations);
  hello.max_message_length = input.boundary();
  hello.max_datagram = static_cast<std::uint16_t>(input.boundary());
  hello.unscheduled_bytes = static_cast<std::uint32_t>(input.boundary());
  hello.version_min = hello.version_max = 1;
  hello.max_ack_delay_us = static_cast<std::uint16_t>(input.boundary());
  hello.idle_timeout_ms = static_cast<std::uint32_t>(input.boundary());
  return hello;
}

wire::Packet draw_packet(Input& input, std::uint64_t incarnations) {
  const auto slot = static_cast<std::uint16_t>(input.byte() % 6);
  const wire::RpcId id = wire::RpcId::of(slot, static_cast<std::uint32_t>(input.byte() % 8));
  switch (input.byte() % 11) {
    case 0:
      return draw_ack(input);
    case 1: {
      const std::uint64_t offset = input.boundary();
      const Priority priority{static_cast<std::uint8_t>(input.byte() & 7u)};
      return wire::GrantPacket{id, offset, priority, (input.byte() & 1u) != 0};
    }
    case 2:
      return draw_cutoffs(input);
    case 3: {
      const auto code = static_cast<wire::AbortCode>(input.byte() % 10);
      return wire::AbortPacket{id, code, (input.byte() & 1u) != 0};
    }
    case 4:
      return wire::ReleasePacket{id};
    case 5:
      return wire::PingPacket{};
    case 6: {
      const std::uint8_t number = input.byte();
      return wire::NoAssociationPacket{number, draw_incarnation(input, incarnations)};
    }
    case 7: {
      const std::uint8_t reason = input.byte();
      return wire::ClosePacket{reason, draw_incarnation(input, incarnations)};
    }
    case 8:
    case 9:
      return draw_data(input, id);
    default: {
      wire::HelloPacket hello_ack = draw_hello(input, incarnations);
      hello_ack.is_ack = true;
      return hello_ack;
    }
  }
}

std::vector<std::byte> frame_of(const wire::FrameHeader& header, const std::vector<wire::Packet>& packets) {
  std::vector<std::byte> bytes(1024);  // header blocks of a few packets
  std::size_t at = wire::kFrameHeaderSize;
  for (const wire::Packet& packet : packets) at += wire::encode_packet(packet, bytes.data() + at);
  wire::encode_frame_header(header, at - wire::kFrameHeaderSize, bytes.data());
  bytes.resize(at);
  for (const wire::Packet& packet : packets) {
    if (const auto* data = std::get_if<wire::DataPacket>(&packet)) {
      bytes.insert(bytes.end(), data->payload.data, data->payload.data + data->payload.size);
    }
  }
  return bytes;
}

}  // namespace homa::fuzz
