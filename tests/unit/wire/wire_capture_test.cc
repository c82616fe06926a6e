// Every recorded frame of the Linux implementation decodes, encodes again to the same bytes, and has the checksum that
// we would have given it. Where the frames come from: tests/data/kernel_homa/README.md.
#include <gtest/gtest.h>

#include <array>

#include "capture.h"
#include "wire/endian.h"
#include "wire/native.h"

namespace homa::wire::test {
namespace {

constexpr int kTcp = 6;  // Linux's hijack_tcp
constexpr std::size_t kTypes = 9;

struct Recording {
  const char* name;
  std::array<int, kTypes> packets;  // of types 0x10 to 0x18
};

void PrintTo(const Recording& recording, std::ostream* out) {
  *out << recording.name;
}

const Recording kRecordings[] = {
    // DATA, GRANT, RESEND, RPC_UNKNOWN, BUSY, CUTOFFS, FREEZE, NEED_ACK, ACK
    {"freeze-freeze", {4, 0, 0, 0, 0, 2, 1, 1, 1}},
    {"mtu1500-acks-pipelined", {80, 0, 0, 0, 0, 0, 0, 1, 2}},
    {"mtu1500-big-200KB", {284, 71, 0, 0, 0, 0, 0, 1, 1}},
    {"mtu1500-busy-slow-server", {2, 0, 4, 0, 4, 0, 0, 1, 1}},
    {"mtu1500-client-gone", {2, 0, 1, 0, 1, 0, 0, 0, 0}},
    {"mtu1500-cutoffs-change", {6, 0, 0, 0, 0, 2, 0, 2, 1}},
    {"mtu1500-grants-3x150KB", {324, 102, 0, 0, 0, 0, 0, 2, 2}},
    {"mtu1500-gso-20000", {54, 4, 0, 0, 0, 0, 0, 2, 1}},
    {"mtu1500-hijack-tcp", {57, 30, 0, 0, 0, 0, 0, 3, 1}},
    {"mtu1500-lengths", {22, 0, 0, 0, 0, 0, 0, 9, 9}},
    {"mtu1500-loss-at-client-port", {297, 119, 30, 4, 4, 0, 0, 16, 5}},
    {"mtu1500-loss-at-server-port", {287, 117, 29, 4, 4, 0, 0, 20, 4}},
    {"mtu1500-lost-response-resend", {2, 0, 4, 0, 0, 0, 0, 2, 0}},
    {"mtu1500-multi-5KB", {16, 0, 0, 0, 0, 0, 0, 1, 1}},
    {"mtu1500-rpc-unknown-restart", {3, 0, 3, 1, 2, 0, 0, 1, 1}},
    {"mtu1500-short-100B", {10, 0, 0, 0, 0, 2, 0, 1, 1}},
    {"mtu1500-timeout-resends", {3, 0, 19, 0, 0, 2, 0, 1, 1}},
    {"mtu1500-unbound-port-icmp", {1, 0, 1, 0, 0, 0, 0, 0, 0}},
    {"mtu9000-big-200KB", {46, 19, 0, 0, 0, 0, 0, 1, 1}},
    {"mtu9000-grants-3x150KB", {57, 26, 0, 0, 0, 0, 0, 2, 2}},
    {"mtu9000-lengths", {18, 0, 0, 0, 0, 0, 0, 9, 9}},
    {"mtu9000-multi-5KB", {4, 0, 0, 0, 0, 0, 0, 1, 1}},
    {"mtu9000-short-100B", {10, 0, 0, 0, 0, 2, 0, 1, 1}},
    {"qemu-unmodified-big-200KB", {284, 72, 0, 0, 0, 0, 0, 1, 1}},
    {"qemu-unmodified-ipv6", {192, 0, 0, 0, 0, 2, 0, 31, 31}},
    {"qemu-unmodified-multi-5KB", {16, 0, 0, 0, 0, 0, 0, 2, 2}},
    {"qemu-unmodified-short-100B", {10, 0, 0, 0, 0, 2, 0, 1, 1}},
};

std::string test_name(const testing::TestParamInfo<Recording>& recording) {
  std::string name = recording.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

class KernelCapture : public testing::TestWithParam<Recording> {};

bool is_homa(const CapturedPacket& packet) {
  return packet.protocol == kNativeIpProtocol || packet.protocol == kTcp;
}

// The kernel's own segmentation leaves the checksum of the whole train in each of its segments.
bool has_valid_checksum(const NativeHeader& header) {
  return header.offset_place != OffsetPlace::segmented;
}

TEST_P(KernelCapture, DecodesAndEncodesToTheSameBytes) {
  std::array<int, kTypes> seen{};
  for (const CapturedPacket& captured : read_capture(GetParam().name)) {
    if (!is_homa(captured)) continue;
    NativeHeader header;
    Packet packet;
    ASSERT_EQ(decode_native(view(captured.payload), header, packet), DecodeError::none);
    ASSERT_EQ(encode_native_packet(header, packet), captured.payload);
    const std::size_t type = load8(captured.payload.data() + 11) - std::size_t{0x10};
    ASSERT_LT(type, kTypes);
    ++seen[type];
  }
  EXPECT_EQ(seen, GetParam().packets);
}

TEST_P(KernelCapture, ChecksumIsThatOfTcp) {
  for (const CapturedPacket& captured : read_capture(GetParam().name)) {
    if (!is_homa(captured)) continue;
    NativeHeader header;
    Packet packet;
    ASSERT_EQ(decode_native(view(captured.payload), header, packet), DecodeError::none);
    const std::size_t size = native_size(packet);
    const ByteView payload{captured.payload.data() + size, captured.payload.size() - size};
    const std::uint16_t sum =
        native_checksum(captured.source, captured.destination, {captured.payload.data(), size}, payload);
    EXPECT_EQ(sum == header.checksum, has_valid_checksum(header));
  }
}

TEST_P(KernelCapture, RolesPortsAndPlacesAreAsDocumented) {
  for (const CapturedPacket& captured : read_capture(GetParam().name)) {
    if (!is_homa(captured)) continue;
    NativeHeader header;
    Packet packet;
    ASSERT_EQ(decode_native(view(captured.payload), header, packet), DecodeError::none);
    EXPECT_EQ(header.from_server, header.source_port < kNativeFirstClientPort);
    EXPECT_NE(header.from_server, header.destination_port < kNativeFirstClientPort);
    if (const auto* data = std::get_if<DataPacket>(&packet)) {
      EXPECT_LE(data->incoming, data->message_length);
      EXPECT_EQ(data->retransmission, header.offset_place == OffsetPlace::both);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WireSection7, KernelCapture, testing::ValuesIn(kRecordings), test_name);

}  // namespace
}  // namespace homa::wire::test
