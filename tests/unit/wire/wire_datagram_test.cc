// Golden bytes: each frame is written out by hand from the tables of docs/wire.md.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "wire/datagram.h"
#include "wire_support.h"

namespace homa::wire::test {
namespace {

const FrameHeader kHeader = [] {
  FrameHeader header;
  header.lane = Priority{5};
  header.destination.value = 0x0102030405060708;
  header.packet_number = 0x11223344;
  return header;
}();

// Encodes to exactly `hex`, and decodes from it to the same again.
void expect_golden(const FrameHeader& header, const std::vector<Packet>& packets, std::string_view hex) {
  const Bytes golden = bytes_of(hex);
  EXPECT_EQ(encode_frame(header, packets.data(), packets.size()), golden);
  Frame frame;
  ASSERT_EQ(decode_frame(view(golden), frame), DecodeError::none);
  EXPECT_TRUE(same(frame.header, header));
  ASSERT_EQ(frame.packet_count, packets.size());
  for (std::size_t i = 0; i < packets.size(); ++i) EXPECT_TRUE(same(frame.packets[i], packets[i])) << i;
}

const Bytes kFive = bytes_of("a1a2a3a4a5");

TEST(WireSection2, FrameHeader) {
  expect_golden(kHeader, {PingPacket{}}, "90 05 0004 0102030405060708 11223344 05000000");
}

TEST(WireSection2, SealedKeyPhaseAndReversedBits) {
  FrameHeader header = kHeader;
  header.sealed = header.key_phase = header.reversed = true;
  Bytes bytes(kFrameHeaderSize);
  encode_frame_header(header, 0xabcd, bytes.data());
  EXPECT_EQ(bytes, bytes_of("97 05 abcd 0102030405060708 11223344"));
  FrameHeader decoded;
  ASSERT_EQ(decode_frame_header(view(bytes), decoded), DecodeError::none);
  EXPECT_TRUE(same(decoded, header));
}

TEST(WireSection3, DataMiddle) {
  DataPacket packet;
  packet.id = RpcId::of(0x0203, 0x04050607);
  packet.offset = 0x0000000005d8;
  packet.message_length = 0x010000000000;
  packet.payload = view(kFive);
  packet.retransmission = true;
  expect_golden(kHeader, {packet},
                "90 05 0016 0102030405060708 11223344"
                "10 02 0203 04050607 0000000005d8 010000000000 0005"
                "a1a2a3a4a5");
}

TEST(WireSection3, DataFirst) {
  DataPacket packet;
  packet.id = RpcId::of(1, 2);
  packet.message_length = 5;
  packet.payload = view(kFive);
  packet.first = true;
  packet.incoming = 0x060504030201;
  packet.cutoff_version = 0x0708;
  packet.response_unscheduled = 0x1234 * kResponseLimitUnit;
  packet.message_class = 9;
  packet.call_flags = kCallOneWay | kCallIdempotent;
  packet.deadline_us = 0x0a0b0c0d;
  expect_golden(kHeader, {packet},
                "90 05 0026 0102030405060708 11223344"
                "10 01 0001 00000002 000000000000 000000000005 0005"
                "060504030201 0708 1234 09 03 0a0b0c0d"
                "a1a2a3a4a5");
}

TEST(WireSection3, DataFirstWithoutResponseLimitAndOfNoBytes) {
  DataPacket packet;
  packet.first = true;
  expect_golden(kHeader, {packet},
                "90 05 0026 0102030405060708 11223344"
                "10 01 0000 00000000 000000000000 000000000000 0000"
                "000000000000 0000 ffff 00 00 00000000");
}

TEST(WireSection3, Grant) {
  expect_golden(kHeader, {GrantPacket{RpcId::of(7, 8), 0xffffffffffff, Priority{6}, true}},
                "90 05 0010 0102030405060708 11223344"
                "11 01 0007 00000008 ffffffffffff 06 00");
}

TEST(WireSection3, Ack) {
  AckPacket packet;
  packet.lane = 3;
  packet.delay_ns = 0x01020304;
  packet.largest = 0x05060708;
  packet.congestion_experienced = 0x090a0b0c;
  packet.range_count = 2;
  packet.ranges[0] = {0, 0x0d};
  packet.ranges[1] = {0x0e, 0x0f};
  expect_golden(kHeader, {packet},
                "90 05 001c 0102030405060708 11223344"
                "08 00 03 02 01020304 05060708 090a0b0c 0000000d 0000000e 0000000f");
}

HelloPacket sample_hello(bool is_ack) {
  HelloPacket packet;
  packet.is_ack = is_ack;
  packet.slots = 0x0102;
  packet.source.value = 0x0304050607080910;
  packet.incarnation = 0x1112131415161718;
  packet.max_message_length = 0x192021222324;
  packet.max_datagram = 0x2526;
  packet.unscheduled_bytes = 0x27282930;
  packet.version_min = 1;
  packet.version_max = 2;
  packet.max_ack_delay_us = 0x3132;
  packet.idle_timeout_ms = 0x33343536;
  packet.peer_timeout_ms = 0x37383940;
  return packet;
}

TEST(WireSection3, Hello) {
  FrameHeader header = kHeader;
  header.destination.value = 0;
  expect_golden(header, {sample_hello(false)},
                "90 05 0030 0000000000000000 11223344"
                "01 00 0102 0304050607080910 1112131415161718 192021222324 2526 27282930 01 02 3132 33343536"
                "37383940 00000000");
}

TEST(WireSection3, HelloAck) {
  expect_golden(kHeader, {sample_hello(true)},
                "90 05 0030 0102030405060708 11223344"
                "02 00 0102 0304050607080910 1112131415161718 192021222324 2526 27282930 01 02 3132 33343536"
                "37383940 00000000");
}

TEST(WireSection3, NoAssociation) {
  FrameHeader header = kHeader;
  header.reversed = true;
  expect_golden(header, {NoAssociationPacket{0x21222324, 0x3132333435363738}},
                "91 05 0010 0102030405060708 11223344"
                "03 000000 21222324 3132333435363738");
}

TEST(WireSection3, Close) {
  expect_golden(kHeader, {ClosePacket{0x2122, 0x3132333435363738}},
                "90 05 0010 0102030405060708 11223344"
                "04 00 2122 00000000 3132333435363738");
}

TEST(WireSection3, MtuProbe) {
  expect_golden(kHeader, {MtuProbePacket{3}}, "90 05 0004 0102030405060708 11223344 06 00 0003 000000");
}

TEST(WireSection3, Crypto) {
  expect_golden(kHeader, {CryptoPacket{0x010203040506, view(kFive)}},
                "90 05 000c 0102030405060708 11223344"
                "07 00 0005 010203040506 0000"
                "a1a2a3a4a5");
}

TEST(WireSection3, Cutoffs) {
  CutoffsPacket packet;
  packet.version = 0x0102;
  packet.cutoffs = {0xffffffff, 0xffffffff, 7, 6, 5, 4, 3, 3};
  expect_golden(kHeader, {packet},
                "90 05 0024 0102030405060708 11223344"
                "12 08 0102 ffffffff ffffffff 00000007 00000006 00000005 00000004 00000003 00000003");
}

TEST(WireSection3, AbortAndAborted) {
  expect_golden(kHeader,
                {AbortPacket{RpcId::of(1, 2), AbortCode::discarded, false},
                 AbortPacket{RpcId::of(3, 4), AbortCode::cancelled, true}},
                "90 05 0018 0102030405060708 11223344"
                "13 00 0001 00000002 0006 0000"
                "14 00 0003 00000004 0001 0000");
}

TEST(WireSection3, Release) {
  expect_golden(kHeader, {ReleasePacket{RpcId::of(0xffff, 0xffffffff)}},
                "90 05 0008 0102030405060708 11223344"
                "15 00 ffff ffffffff");
}

TEST(WireSection3, HeadersComeBeforeAllPayloads) {
  DataPacket first;
  first.message_length = 5;
  first.payload = view(kFive);
  first.first = true;
  DataPacket second;
  second.offset = 1;
  second.message_length = 3;
  second.payload = {kFive.data() + 3, 2};
  expect_golden(kHeader, {first, PingPacket{}, second},
                "90 05 0040 0102030405060708 11223344"
                "10 01 0000 00000000 000000000000 000000000005 0005 000000000000 0000 ffff 00 00 00000000"
                "05 000000"
                "10 00 0000 00000000 000000000001 000000000003 0002"
                "a1a2a3a4a5 a4a5");
}

TEST(WireSection3, MiddleDataCosts38BytesInClearAnd54Sealed) {
  DataPacket packet;
  packet.offset = 1400;
  packet.message_length = 2800;
  const Bytes payload(1400);
  packet.payload = view(payload);
  const Packet any = packet;
  EXPECT_EQ(encode_frame(kHeader, &any, 1).size(), 1400U + 38U);
  EXPECT_EQ(kFrameHeaderSize + encoded_size(any) + kSealTagSize, 54U);
}

TEST(WireSection3, ResponseLimitIsRoundedDownAndStaysALimit) {
  DataPacket packet;
  packet.first = true;
  Bytes out(kDataFirstHeaderSize);
  const auto sent = [&](std::uint32_t limit) {
    packet.response_unscheduled = limit;
    EXPECT_EQ(encode_data(packet, out.data()), kDataFirstHeaderSize);
    return Bytes{out[30], out[31]};
  };
  EXPECT_EQ(sent(0), bytes_of("0000"));
  EXPECT_EQ(sent(63), bytes_of("0000"));
  EXPECT_EQ(sent(64), bytes_of("0001"));
  EXPECT_EQ(sent(0xfffe * 64), bytes_of("fffe"));
  EXPECT_EQ(sent(0xffff * 64), bytes_of("fffe"));
  EXPECT_EQ(sent(0xfffffffe), bytes_of("fffe"));
  EXPECT_EQ(sent(kNoResponseLimit), bytes_of("ffff"));
}

TEST(WireSection2, PacketNumberExpandsToTheNearest) {
  constexpr std::uint64_t k32 = std::uint64_t{1} << 32;
  EXPECT_EQ(expand_packet_number(1, 1), 1U);
  EXPECT_EQ(expand_packet_number(0xffffffff, 1), 0xffffffffU);  // nothing lies before 0
  EXPECT_EQ(expand_packet_number(0, k32), k32);
  EXPECT_EQ(expand_packet_number(0, k32 - 1), k32);
  EXPECT_EQ(expand_packet_number(0xffffffff, k32), k32 - 1);
  EXPECT_EQ(expand_packet_number(5, 7 * k32 + 0xfffffff0), 8 * k32 + 5);
  EXPECT_EQ(expand_packet_number(0xfffffff0, 8 * k32 + 5), 7 * k32 + 0xfffffff0);
}

TEST(WireSection2, PacketNumberExpandsExactlyWithinHalfTheWindow) {
  Rng rng(2);
  constexpr std::uint64_t half = std::uint64_t{1} << 31;
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t number = (rng.next() >> (1 + rng.below(31))) + half;
    const std::uint64_t expected = number - half + rng.below(2 * half);
    ASSERT_EQ(expand_packet_number(static_cast<std::uint32_t>(number), expected), number) << expected;
  }
}

}  // namespace
}  // namespace homa::wire::test
