// Native packets by hand (docs/wire.md section 7), and what holds for all of them. Recorded ones: wire_capture_test.cc.
#include <gtest/gtest.h>

#include <memory>

#include "random_packets.h"
#include "wire/native.h"

namespace homa::wire::test {
namespace {

NativeHeader sample_header(bool from_server) {
  NativeHeader header;
  header.source_port = 0x8001;
  header.destination_port = 0x0fa0;
  header.from_server = from_server;
  header.checksum = 0xc5c6;
  return header;
}

void expect_golden(const NativeHeader& header, const Packet& packet, std::string_view hex) {
  const Bytes golden = bytes_of(hex);
  EXPECT_EQ(encode_native_packet(header, packet), golden);
  NativeHeader decoded_header;
  Packet decoded;
  ASSERT_EQ(decode_native(view(golden), decoded_header, decoded), DecodeError::none);
  EXPECT_TRUE(same(decoded_header, header));
  EXPECT_TRUE(same(decoded, packet));
}

const Bytes kFive = bytes_of("a1a2a3a4a5");

DataPacket sample_data() {
  DataPacket packet;
  packet.id.value = 0x0102030405060708 >> 1;
  packet.offset = 0x590;
  packet.message_length = 0x7530;
  packet.payload = view(kFive);
  packet.first = true;
  packet.incoming = 0x2710;
  packet.native_ack.value = 0x1112131415161718 >> 1;
  packet.native_ack_port = 0x1920;
  packet.cutoff_version = 0x2122;
  return packet;
}

TEST(WireSection7, DataFirstTransmission) {
  NativeHeader header = sample_header(false);
  header.offset_place = OffsetPlace::sequence_only;
  expect_golden(header, sample_data(),
                "8001 0fa0 00000590 000000 10 e0 06 0000 c5c6 b97d 0102030405060708"
                "00007530 00002710 1112131415161718 1920 2122 00 000000 ffffffff a1a2a3a4a5");
}

TEST(WireSection7, DataRetransmissionSaysItsOffsetTwice) {
  DataPacket packet = sample_data();
  packet.retransmission = true;
  expect_golden(sample_header(true), packet,
                "8001 0fa0 00000590 000000 10 e0 06 0000 c5c6 b97d 0102030405060709"
                "00007530 00002710 1112131415161718 1920 2122 01 000000 00000590 a1a2a3a4a5");
}

TEST(WireSection7, DataOfASegmentedTrain) {
  NativeHeader header = sample_header(false);
  header.offset_place = OffsetPlace::segmented;
  expect_golden(header, sample_data(),
                "8001 0fa0 00000000 000000 10 d0 06 0000 c5c6 b97d 0102030405060708"
                "00007530 00002710 1112131415161718 1920 2122 00 000000 00000590 a1a2a3a4a5");
}

TEST(WireSection7, ControlPackets) {
  const RpcId id{0x0102030405060708 >> 1};
  const NativeHeader header = sample_header(true);
  const auto common = [](const char* type) {
    return std::string("8001 0fa0 00000000 000000") + type + "50 06 0000 c5c6 b97d 0102030405060709";
  };
  expect_golden(header, GrantPacket{id, 0x01020304, Priority{5}, false}, common("11") + "01020304 05");
  expect_golden(header, ResendPacket{id, 0x01020304, 0x05060708, Priority{7}}, common("12") + "01020304 05060708 07");
  expect_golden(header, ResendPacket{id, 0, -1, Priority{7}}, common("12") + "00000000 ffffffff 07");
  expect_golden(header, RpcUnknownPacket{id}, common("13"));
  expect_golden(header, BusyPacket{id}, common("14"));
  CutoffsPacket cutoffs;
  cutoffs.version = 0x0102;
  cutoffs.cutoffs = {0, 0, 0, 0, 1000000, 15000, 2800, 200};
  cutoffs.native_id = id;
  expect_golden(header, cutoffs,
                common("15") + "00000000 00000000 00000000 00000000 000f4240 00003a98 00000af0 000000c8 0102");
  expect_golden(header, FreezePacket{id}, common("16"));
  expect_golden(header, NeedAckPacket{id}, common("17"));
  NativeAckPacket ack;
  ack.id = id;
  ack.count = 2;
  ack.entries[0] = {0x0c, 0x0fa0};
  ack.entries[1] = {0x0e, 0x0fa1};
  expect_golden(header, ack, common("18") + "0002 000000000000000c 0fa0 000000000000000e 0fa1" + std::string(60, '0'));
}

DecodeError decode(const Bytes& bytes) {
  const auto copy = std::make_unique<std::byte[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  NativeHeader header;
  Packet packet;
  return decode_native({copy.get(), bytes.size()}, header, packet);
}

TEST(WireSection7, RefusesWhatCannotBe) {
  const auto edited = [](const Packet& packet, std::size_t at, std::string_view hex) {
    Bytes bytes = encode_native_packet(sample_header(false), packet);
    const Bytes edit = bytes_of(hex);
    std::copy(edit.begin(), edit.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    return decode(bytes);
  };
  EXPECT_EQ(edited(BusyPacket{}, 11, "19"), DecodeError::unknown_type);
  EXPECT_EQ(edited(BusyPacket{}, 11, "0f"), DecodeError::unknown_type);
  EXPECT_EQ(edited(BusyPacket{}, 0, "0000"), DecodeError::bad_value) << "port 0";
  EXPECT_EQ(edited(BusyPacket{}, 2, "0000"), DecodeError::bad_value) << "port 0";
  EXPECT_EQ(edited(GrantPacket{}, 32, "08"), DecodeError::bad_value);
  EXPECT_EQ(edited(ResendPacket{}, 36, "08"), DecodeError::bad_value);
  EXPECT_EQ(edited(ResendPacket{}, 32, "fffffffe"), DecodeError::bad_value) << "length -2";
  EXPECT_EQ(edited(NativeAckPacket{}, 28, "0006"), DecodeError::bad_value);
  EXPECT_EQ(edited(sample_data(), 28, "00000594"), DecodeError::bad_value) << "payload beyond the message";
  EXPECT_EQ(edited(sample_data(), 28, "00000595"), DecodeError::none);
}

TEST(WireSection7, ConstantsOfLinuxAreNotRequired) {
  Bytes bytes = encode_native_packet(sample_header(false), BusyPacket{});
  for (const std::size_t at : {4U, 8U, 9U, 10U, 12U, 13U, 14U, 16U, 18U}) bytes[at] ^= std::byte{0xff};
  EXPECT_EQ(decode(bytes), DecodeError::none);
}

TEST(WireSection7, LongerControlPacketsAndShortAcksAreTaken) {
  Bytes grant = encode_native_packet(sample_header(false), GrantPacket{});
  grant.push_back(std::byte{1});  // the draft's resend-all flag
  EXPECT_EQ(decode(grant), DecodeError::none);
  Bytes ack = encode_native_packet(sample_header(false), NativeAckPacket{RpcId{1}, 1, {}});
  ack.resize(40);
  EXPECT_EQ(decode(ack), DecodeError::none);
  ack.resize(39);
  EXPECT_EQ(decode(ack), DecodeError::truncated);
}

TEST(WireNativeProperty, EveryPacketRoundTrips) {
  RandomPackets random(11);
  for (int i = 0; i < 100000; ++i) {
    const Packet packet = random.native_packet();
    const NativeHeader header = random.native_header(std::holds_alternative<DataPacket>(packet));
    const Bytes bytes = encode_native_packet(header, packet);
    NativeHeader decoded_header;
    Packet decoded;
    ASSERT_EQ(decode_native(view(bytes), decoded_header, decoded), DecodeError::none) << i;
    ASSERT_TRUE(same(packet, decoded)) << i;
    ASSERT_TRUE(same(header, decoded_header)) << i;
    ASSERT_EQ(encode_native_packet(decoded_header, decoded), bytes) << i;
  }
}

TEST(WireNativeProperty, CutHeadersAreErrors) {
  RandomPackets random(12);
  for (int i = 0; i < 2000; ++i) {
    const Packet packet = random.native_packet();
    const NativeHeader header = random.native_header(std::holds_alternative<DataPacket>(packet));
    Bytes bytes = encode_native_packet(header, packet);
    // The payload of DATA ends where the IP packet does, and an ACK may leave unused slots away.
    std::size_t least = native_size(packet);
    if (const auto* ack = std::get_if<NativeAckPacket>(&packet)) least = 30 + 10 * std::size_t{ack->count};
    for (std::size_t size = 0; size < least; ++size) {
      ASSERT_EQ(decode(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))),
                DecodeError::truncated);
    }
  }
}

TEST(WireNativeProperty, CorruptionOfOneByteIsRefusedOrStable) {
  RandomPackets random(13);
  for (int i = 0; i < 5000; ++i) {
    const Packet packet = random.native_packet();
    const NativeHeader header = random.native_header(std::holds_alternative<DataPacket>(packet));
    Bytes bytes = encode_native_packet(header, packet);
    for (std::size_t at = 0; at < native_size(packet); ++at) {
      const std::byte original = bytes[at];
      bytes[at] ^= static_cast<std::byte>(1 + random.rng().below(255));
      NativeHeader first_header, second_header;
      Packet first, second;
      if (decode_native(view(bytes), first_header, first) == DecodeError::none) {
        const Bytes again = encode_native_packet(first_header, first);
        ASSERT_EQ(decode_native(view(again), second_header, second), DecodeError::none);
        ASSERT_TRUE(same(first, second) && same(first_header, second_header));
      }
      bytes[at] = original;
    }
  }
}

TEST(WireNativeChecksum, IgnoresItsOwnFieldAndTakesOddSizes) {
  const HostAddress a = HostAddress::v4(10, 77, 0, 1);
  const HostAddress b = HostAddress::v4(10, 77, 0, 2);
  DataPacket packet = sample_data();
  Bytes header(kNativeDataHeaderSize);
  encode_native(sample_header(false), packet, header.data());
  const std::uint16_t sum = native_checksum(a, b, view(header), packet.payload);
  store_native_checksum(header.data(), sum);
  EXPECT_EQ(native_checksum(a, b, view(header), packet.payload), sum);
  // Split elsewhere, the same bytes have the same sum; the odd last byte counts.
  Bytes whole = header;
  whole.insert(whole.end(), kFive.begin(), kFive.end());
  EXPECT_EQ(native_checksum(a, b, view(whole), {}), sum);
  whole.back() ^= std::byte{1};
  EXPECT_NE(native_checksum(a, b, view(whole), {}), sum);
}

}  // namespace
}  // namespace homa::wire::test
