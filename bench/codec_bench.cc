// Cost of one middle DATA frame in the codec: what every packet of a large message pays at both ends.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/datagram.h"

namespace {

using namespace homa;  // NOLINT(google-build-using-namespace): a benchmark of this namespace

constexpr std::size_t kDatagram = 1452;
constexpr std::size_t kPayload = kDatagram - wire::kFrameHeaderSize - wire::kDataHeaderSize;

wire::DataPacket middle_packet() {
  wire::DataPacket packet;
  packet.id = wire::RpcId::of(7, 3);
  packet.offset = 100 * kPayload;
  packet.message_length = wire::kMaxMessageLength;  // so that the offset may grow for as long as the benchmark runs
  packet.payload.size = kPayload;
  return packet;
}

void encode(const wire::DataPacket& packet, std::uint32_t number, std::byte* out) {
  wire::FrameHeader header;
  header.destination = {0x0102030405060708};
  header.packet_number = number;
  wire::encode_frame_header(header, wire::kDataHeaderSize, out);
  wire::encode_data(packet, out + wire::kFrameHeaderSize);
}

void BM_EncodeMiddleData(benchmark::State& state) {
  std::array<std::byte, wire::kFrameHeaderSize + wire::kDataHeaderSize> out;
  wire::DataPacket packet = middle_packet();
  std::uint32_t number = 0;
  for (auto _ : state) {
    packet.offset += kPayload;
    encode(packet, ++number, out.data());
    benchmark::DoNotOptimize(out);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_EncodeMiddleData);

void BM_DecodeMiddleData(benchmark::State& state) {
  std::vector<std::byte> datagram(kDatagram);
  encode(middle_packet(), 1, datagram.data());
  wire::Frame frame;
  if (wire::decode_frame({datagram.data(), datagram.size()}, frame) != wire::DecodeError::none) {
    state.SkipWithError("the frame does not decode");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(datagram.data());
    benchmark::DoNotOptimize(wire::decode_frame({datagram.data(), datagram.size()}, frame));
    benchmark::DoNotOptimize(frame);
  }
}
BENCHMARK(BM_DecodeMiddleData);

}  // namespace
