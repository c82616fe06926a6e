// What the datagram decoder refuses, and why (docs/wire.md sections 2, 3 and 6).
#include <gtest/gtest.h>

#include <string>

#include "wire/datagram.h"
#include "wire_support.h"

namespace homa::wire::test {
namespace {

const std::string kTo = "0102030405060708 11223344";
const std::string kToNobody = "0000000000000000 11223344";
const std::string kPing = "05000000";
const std::string kHello =
    "01 00 0102 0304050607080910 1112131415161718 192021222324 2526 27282930 01 02 3132 33343536 0000000000000000";
const std::string kNoAssociation = "03 000000 21222324 3132333435363738";
const std::string kClose = "04 00 2122 00000000 3132333435363738";

DecodeError decode(std::string_view hex) {
  const Bytes bytes = bytes_of(hex);
  Frame frame;
  return decode_frame(view(bytes), frame);
}

// A frame of priority 0 around a header block and a payload block.
DecodeError decode_in(std::string_view form, std::string_view to, std::string_view block,
                      std::string_view payload = "") {
  Bytes bytes = bytes_of(std::string(form) + "00 0000" + std::string(to));
  const Bytes headers = bytes_of(block);
  const Bytes payloads = bytes_of(payload);
  bytes[2] = static_cast<std::byte>(headers.size() >> 8);
  bytes[3] = static_cast<std::byte>(headers.size());
  bytes.insert(bytes.end(), headers.begin(), headers.end());
  bytes.insert(bytes.end(), payloads.begin(), payloads.end());
  Frame frame;
  return decode_frame(view(bytes), frame);
}
DecodeError decode_block(std::string_view block, std::string_view payload = "") {
  return decode_in("90", kTo, block, payload);
}

TEST(WireSection2Rules, FormVersionAndReservedBits) {
  EXPECT_EQ(decode_in("90", kTo, kPing), DecodeError::none);
  EXPECT_EQ(decode_in("10", kTo, kPing), DecodeError::unknown_form);
  EXPECT_EQ(decode_in("80", kTo, kPing), DecodeError::unknown_form);
  EXPECT_EQ(decode_in("a0", kTo, kPing), DecodeError::unknown_form);
  EXPECT_EQ(decode_in("98", kTo, kPing), DecodeError::reserved_bits);
  EXPECT_EQ(decode_in("92", kTo, kPing), DecodeError::reserved_bits) << "a key phase without a seal";
  EXPECT_EQ(decode_in("94", kTo, kPing), DecodeError::unknown_form) << "sealed is not for the clear decoder";
}

TEST(WireSection2Rules, LaneTakesOnlyPriorities) {
  EXPECT_EQ(decode("90 07 0004" + kTo + kPing), DecodeError::none);
  for (const char* lane : {"08", "10", "20", "40", "80", "ff"}) {
    EXPECT_EQ(decode("90" + std::string(lane) + "0004" + kTo + kPing), DecodeError::reserved_bits) << lane;
  }
}

TEST(WireSection2Rules, TheFrameEndsWhereItsLengthsSay) {
  EXPECT_EQ(decode(""), DecodeError::truncated);
  EXPECT_EQ(decode("90 00 0005" + kTo + kPing), DecodeError::truncated) << "block beyond the datagram";
  EXPECT_EQ(decode("90 00 0003" + kTo + "050000"), DecodeError::truncated) << "packet beyond the block";
  EXPECT_EQ(decode("90 00 0004" + kTo + kPing + "00"), DecodeError::trailing_bytes);
  EXPECT_EQ(decode("90 00 0000" + kTo), DecodeError::bad_value) << "no packet";
}

TEST(WireSection2Rules, AtMost32Packets) {
  std::string block;
  for (int i = 0; i < 32; ++i) block += kPing;
  EXPECT_EQ(decode_block(block), DecodeError::none);
  EXPECT_EQ(decode_block(block + kPing), DecodeError::too_many_packets);
}

TEST(WireSection3Rules, UnknownTypes) {
  for (const char* type : {"00", "09", "0f", "16", "1f", "20", "30", "85", "ff"}) {
    EXPECT_EQ(decode_block(std::string(type) + std::string(94, '0')), DecodeError::unknown_type) << type;
  }
}

TEST(WireSection3Rules, ReservedBytesAreIgnored) {
  EXPECT_EQ(decode_block("05 ffffff"), DecodeError::none);
  EXPECT_EQ(decode_block("15 ff 0001 00000002"), DecodeError::none);
  EXPECT_EQ(decode_block("13 ff 0001 00000002 0001 ffff"), DecodeError::none);
}

TEST(WireSection3Rules, HelloIsTheFirstPacketOfAFrameToNobody) {
  EXPECT_EQ(decode_in("90", kToNobody, kHello), DecodeError::none);
  EXPECT_EQ(decode_in("90", kToNobody, kHello + kPing), DecodeError::none);
  EXPECT_EQ(decode_in("90", kTo, kHello), DecodeError::bad_value);
  EXPECT_EQ(decode_in("90", kToNobody, kPing), DecodeError::bad_value);
  EXPECT_EQ(decode_in("90", kToNobody, kPing + kHello), DecodeError::bad_value);
  EXPECT_EQ(decode_in("90", kToNobody, kHello + kHello), DecodeError::bad_value);
  std::string hello_ack = kHello;
  hello_ack[1] = '2';
  EXPECT_EQ(decode_in("90", kTo, hello_ack), DecodeError::none);
  EXPECT_EQ(decode_in("90", kTo, kPing + hello_ack), DecodeError::none);
  EXPECT_EQ(decode_in("90", kToNobody, hello_ack), DecodeError::bad_value);
  EXPECT_EQ(decode_in("90", kToNobody, kHello + hello_ack), DecodeError::bad_value);
}

TEST(WireSection3Rules, HelloNeedsASourceAndAnOrderedRangeOfVersions) {
  const std::string tail = "1112131415161718 192021222324 2526 27282930";
  const std::string end = "3132 33343536 0000000000000000";
  EXPECT_EQ(decode_in("90", kToNobody, "01 00 0102 0000000000000001" + tail + "0101" + end), DecodeError::none);
  EXPECT_EQ(decode_in("90", kToNobody, "01 00 0102 0000000000000000" + tail + "0101" + end), DecodeError::bad_value);
  EXPECT_EQ(decode_in("90", kToNobody, "01 00 0102 0000000000000001" + tail + "0201" + end), DecodeError::bad_value);
}

TEST(WireSection3Rules, HelloAckOffersSlots) {
  const std::string rest = "0000000000000001 1112131415161718 192021222324 2526 27282930 0101 3132 33343536 " +
                           std::string("0000000000000000");
  EXPECT_EQ(decode_in("90", kTo, "02 00 0001" + rest), DecodeError::none);
  EXPECT_EQ(decode_in("90", kTo, "02 00 0000" + rest), DecodeError::bad_value);
  EXPECT_EQ(decode_in("90", kToNobody, "01 00 0000" + rest), DecodeError::none) << "a client need not offer any";
}

TEST(WireSection3Rules, NoAssociationAndCloseStandAlone) {
  for (const std::string& packet : {kNoAssociation, kClose}) {
    EXPECT_EQ(decode_block(packet), DecodeError::none);
    EXPECT_EQ(decode_block(packet + kPing), DecodeError::bad_value);
    EXPECT_EQ(decode_block(kPing + packet), DecodeError::bad_value);
    EXPECT_EQ(decode_block(packet + packet), DecodeError::bad_value);
    EXPECT_EQ(decode_in("90", kToNobody, packet), DecodeError::bad_value);
  }
}

TEST(WireSection3Rules, ReversedIsForNoAssociation) {
  EXPECT_EQ(decode_in("91", kTo, kNoAssociation), DecodeError::none);
  EXPECT_EQ(decode_in("91", kTo, kClose), DecodeError::bad_value);
  EXPECT_EQ(decode_in("91", kTo, kPing), DecodeError::bad_value);
  EXPECT_EQ(decode_in("91", kToNobody, kHello), DecodeError::bad_value);
}

// Flags, offset, length, payload; the fields of FIRST all 0 when it is set.
DecodeError decode_data(std::string_view flags, std::string_view offset, std::string_view length,
                        std::string_view payload, std::string_view call_flags = "00") {
  const Bytes bytes = bytes_of(payload);
  std::string block = "10" + std::string(flags) + "0001 00000002" + std::string(offset) + std::string(length) + "00";
  const char* digits = "0123456789abcdef";
  block += {digits[bytes.size() / 16], digits[bytes.size() % 16]};
  if (bytes_of(flags)[0] == std::byte{1}) block += "000000000000 0000 0000 00" + std::string(call_flags) + "00000000";
  return decode_block(block, payload);
}

TEST(WireSection3Rules, DataLiesWithinItsMessage) {
  EXPECT_EQ(decode_data("00", "000000000001", "000000000003", "aaaa"), DecodeError::none);
  EXPECT_EQ(decode_data("00", "000000000002", "000000000003", "aaaa"), DecodeError::bad_value);
  EXPECT_EQ(decode_data("01", "000000000000", "000000000002", "aaaa"), DecodeError::none);
  EXPECT_EQ(decode_data("01", "000000000000", "000000000001", "aaaa"), DecodeError::bad_value);
}

TEST(WireSection3Rules, DataUpTo48BitsAndNotBeyond) {
  EXPECT_EQ(decode_data("00", "fffffffffffe", "ffffffffffff", "aa"), DecodeError::none);
  EXPECT_EQ(decode_data("00", "fffffffffffe", "ffffffffffff", "aaaa"), DecodeError::bad_value);
  EXPECT_EQ(decode_data("00", "ffffffffffff", "ffffffffffff", "aa"), DecodeError::bad_value);
}

TEST(WireSection3Rules, DataAtOffset0HasFirstAndElsewhereMay) {
  EXPECT_EQ(decode_data("00", "000000000000", "000000000003", "aaaa"), DecodeError::bad_value);
  EXPECT_EQ(decode_data("01", "000000000001", "000000000003", "aaaa"), DecodeError::none);
}

TEST(WireSection3Rules, DataWithoutPayloadIsAnAnnouncementOrEmpty) {
  EXPECT_EQ(decode_data("01", "000000000000", "000000000000", ""), DecodeError::none);
  EXPECT_EQ(decode_data("01", "000000000000", "ffffffffffff", ""), DecodeError::none);
  EXPECT_EQ(decode_data("01", "000000000001", "000000000003", ""), DecodeError::bad_value);
  EXPECT_EQ(decode_data("00", "000000000001", "000000000003", ""), DecodeError::bad_value);
  EXPECT_EQ(decode_data("00", "000000000000", "000000000000", ""), DecodeError::bad_value);
}

TEST(WireSection3Rules, DataReservedFlags) {
  for (const char* flags : {"04", "08", "10", "20", "40", "80"}) {
    EXPECT_EQ(decode_data(flags, "000000000001", "000000000003", "aa"), DecodeError::reserved_bits) << flags;
  }
  EXPECT_EQ(decode_data("01", "000000000000", "000000000003", "aa", "03"), DecodeError::none);
  for (const char* flags : {"04", "08", "10", "20", "40", "80"}) {
    EXPECT_EQ(decode_data("01", "000000000000", "000000000003", "aa", flags), DecodeError::reserved_bits) << flags;
  }
}

TEST(WireSection3Rules, IncomingMayExceedTheLength) {
  EXPECT_EQ(
      decode_block("10 01 0000 00000000 000000000000 000000000001 0001 ffffffffffff 0000 0000 00 00 00000000", "aa"),
      DecodeError::none);
}

TEST(WireSection3Rules, GrantPriorityAndFlags) {
  EXPECT_EQ(decode_block("11 01 0001 00000002 000000000003 07 00"), DecodeError::none);
  EXPECT_EQ(decode_block("11 00 0001 00000002 000000000003 08 00"), DecodeError::bad_value);
  EXPECT_EQ(decode_block("11 02 0001 00000002 000000000003 07 00"), DecodeError::reserved_bits);
}

TEST(WireSection3Rules, AckRanges) {
  const std::string fixed = "00000000 00000005 00000000";
  EXPECT_EQ(decode_block("08 00 00 01" + fixed + "00000001"), DecodeError::none);
  EXPECT_EQ(decode_block("08 00 00 00" + fixed + "00000001"), DecodeError::bad_value) << "no range";
  EXPECT_EQ(decode_block("08 00 00 21" + fixed + std::string(33 * 16, '1')), DecodeError::bad_value) << "33 ranges";
  EXPECT_EQ(decode_block("08 00 00 01" + fixed + "00000000"), DecodeError::bad_value) << "empty first range";
  EXPECT_EQ(decode_block("08 00 00 02" + fixed + "00000001 00000001 00000001"), DecodeError::none);
  EXPECT_EQ(decode_block("08 00 00 02" + fixed + "00000001 00000000 00000001"), DecodeError::bad_value) << "no gap";
  EXPECT_EQ(decode_block("08 00 00 02" + fixed + "00000001 00000001 00000000"), DecodeError::bad_value)
      << "empty range";
  EXPECT_EQ(decode_block("08 00 00 02" + fixed + "00000001 00000001"), DecodeError::truncated);
  EXPECT_EQ(decode_block("08 00 08 01" + fixed + "00000001"), DecodeError::reserved_bits) << "a path";
}

TEST(WireSection3Rules, AckCoversAtMost32BitsOfNumbers) {
  const std::string fixed = "00000000 00000005 00000000";
  EXPECT_EQ(decode_block("08 00 00 02" + fixed + "fffffffe 00000001 00000001"), DecodeError::none);
  EXPECT_EQ(decode_block("08 00 00 02" + fixed + "ffffffff 00000001 00000001"), DecodeError::bad_value);
}

TEST(WireSection3Rules, CutoffsAreEightAndNonIncreasing) {
  EXPECT_EQ(decode_block("12 08 0001" + std::string(64, '0')), DecodeError::none);
  EXPECT_EQ(decode_block("12 07 0001" + std::string(64, '0')), DecodeError::bad_value);
  EXPECT_EQ(decode_block("12 08 0001" + std::string(63, '0') + "1"), DecodeError::bad_value);
}

TEST(WireSection3Rules, CryptoEndsWithin48Bits) {
  EXPECT_EQ(decode_block("07 00 0001 fffffffffffe 0000", "aa"), DecodeError::none);
  EXPECT_EQ(decode_block("07 00 0001 ffffffffffff 0000", "aa"), DecodeError::bad_value);
  EXPECT_EQ(decode_block("07 00 0002 000000000000 0000", "aa"), DecodeError::truncated);
}

TEST(WireSection3Rules, MtuProbeHasAllItsPadding) {
  EXPECT_EQ(decode_block("06 00 0002", "0000"), DecodeError::none);
  EXPECT_EQ(decode_block("06 00 0002", "00"), DecodeError::truncated);
}

TEST(WireSection6, SealedFrameIsSplitByItsLengths) {
  const Bytes bytes = bytes_of("96 03 0004" + kTo + kPing + "c1c2c3" + "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf");
  SealedLayout layout;
  ASSERT_EQ(decode_sealed_layout(view(bytes), layout), DecodeError::none);
  EXPECT_TRUE(layout.header.sealed && layout.header.key_phase);
  EXPECT_EQ(layout.authenticated.data, bytes.data());
  EXPECT_EQ(layout.authenticated.size, 20U);
  EXPECT_EQ(layout.header_block.data, bytes.data() + 16);
  EXPECT_EQ(layout.header_block.size, 4U);
  EXPECT_EQ(layout.ciphertext.data, bytes.data() + 20);
  EXPECT_EQ(layout.ciphertext.size, 3U);
  EXPECT_EQ(layout.tag.data, bytes.data() + 23);
  EXPECT_EQ(layout.tag.size, kSealTagSize);
}

TEST(WireSection6, SealedFrameNeedsBlockAndTag) {
  const Bytes bytes = bytes_of("94 03 0004" + kTo + kPing + std::string(32, 'd'));
  SealedLayout layout;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(decode_sealed_layout(view(cut), layout), DecodeError::truncated) << size;
  }
  EXPECT_EQ(decode_sealed_layout(view(bytes), layout), DecodeError::none);
  EXPECT_EQ(layout.ciphertext.size, 0U);
  const Bytes clear = bytes_of("90 03 0004" + kTo + kPing + std::string(32, 'd'));
  EXPECT_EQ(decode_sealed_layout(view(clear), layout), DecodeError::unknown_form);
}

TEST(WireSection6, AuthenticatedHeadersDecodeByTheSameRules) {
  const Bytes bytes = bytes_of("94 00 0016" + kTo + "10 00 0001 00000002 000000000001 000000000004 0003" + "c1c2c3" +
                               std::string(32, 'd'));
  SealedLayout layout;
  ASSERT_EQ(decode_sealed_layout(view(bytes), layout), DecodeError::none);
  Frame frame;
  ASSERT_EQ(decode_header_block(layout.header, layout.header_block, layout.ciphertext, frame), DecodeError::none);
  ASSERT_EQ(frame.packet_count, 1U);
  EXPECT_EQ(std::get<DataPacket>(frame.packets[0]).payload.data, layout.ciphertext.data);
  layout.ciphertext.size -= 1;
  EXPECT_EQ(decode_header_block(layout.header, layout.header_block, layout.ciphertext, frame), DecodeError::truncated);
}

}  // namespace
}  // namespace homa::wire::test
