// What holds for every datagram frame: round trips, cuts, corruption.
#include <gtest/gtest.h>

#include <memory>

#include "random_packets.h"
#include "wire/datagram.h"

namespace homa::wire::test {
namespace {

// Frames under attack live in heap blocks of their exact size, so that the sanitizer sees a read of one byte too many.
std::unique_ptr<std::byte[]> exact_copy(const Bytes& bytes, std::size_t size) {
  auto copy = std::make_unique<std::byte[]>(size);
  std::copy_n(bytes.begin(), size, copy.get());
  return copy;
}

// Accepted bytes must mean something stable: encoded and decoded again they say the same.
void expect_stable(const Frame& frame) {
  const Bytes again = encode_frame(frame);
  static Frame decoded;
  ASSERT_EQ(decode_frame(view(again), decoded), DecodeError::none);
  ASSERT_TRUE(same(frame, decoded));
}

TEST(WireDatagramProperty, EveryFrameRoundTrips) {
  RandomPackets random(3);
  Frame frame;
  Frame decoded;
  for (int i = 0; i < 100000; ++i) {
    random.frame(frame);
    const Bytes bytes = encode_frame(frame);
    ASSERT_EQ(decode_frame(view(bytes), decoded), DecodeError::none) << i;
    ASSERT_TRUE(same(frame, decoded)) << i;
    ASSERT_EQ(encode_frame(decoded), bytes) << i;
  }
}

TEST(WireDatagramProperty, EveryCutIsAnError) {
  RandomPackets random(4);
  Frame frame;
  Frame decoded;
  for (int i = 0; i < 60; ++i) {
    random.frame(frame);
    const Bytes bytes = encode_frame(frame);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto cut = exact_copy(bytes, size);
      ASSERT_EQ(decode_frame({cut.get(), size}, decoded), DecodeError::truncated) << i << " at " << size;
    }
  }
}

TEST(WireDatagramProperty, EveryCutOfTheHeaderBlockIsAnError) {
  RandomPackets random(5);
  Frame frame;
  Frame decoded;
  for (int i = 0; i < 60; ++i) {
    random.frame(frame);
    const Bytes bytes = encode_frame(frame);
    std::size_t block = 0;
    for (std::size_t p = 0; p < frame.packet_count; ++p) block += encoded_size(frame.packets[p]);
    const ByteView payloads{bytes.data() + kFrameHeaderSize + block, bytes.size() - kFrameHeaderSize - block};
    for (std::size_t size = 0; size < block; ++size) {
      const auto cut = exact_copy(Bytes(bytes.begin() + kFrameHeaderSize, bytes.end()), size);
      const DecodeError error = decode_header_block(frame.header, {cut.get(), size}, payloads, decoded);
      // A cut between two packets leaves fewer packets: legal, unless they had payload.
      if (error == DecodeError::none) {
        ASSERT_LT(decoded.packet_count, frame.packet_count);
      }
    }
  }
}

TEST(WireDatagramProperty, AnExtraByteIsAnError) {
  RandomPackets random(6);
  Frame frame;
  Frame decoded;
  for (int i = 0; i < 1000; ++i) {
    random.frame(frame);
    Bytes bytes = encode_frame(frame);
    bytes.push_back(std::byte{0});
    ASSERT_EQ(decode_frame(view(bytes), decoded), DecodeError::trailing_bytes);
  }
}

TEST(WireDatagramProperty, CorruptionOfOneByteIsRefusedOrStable) {
  RandomPackets random(7);
  Frame frame;
  Frame decoded;
  for (int i = 0; i < 400; ++i) {
    random.frame(frame);
    const Bytes bytes = encode_frame(frame);
    std::size_t headers = kFrameHeaderSize;
    for (std::size_t p = 0; p < frame.packet_count; ++p) headers += encoded_size(frame.packets[p]);
    const auto copy = exact_copy(bytes, bytes.size());
    for (std::size_t at = 0; at < headers; ++at) {
      const std::byte original = copy[at];
      copy[at] = original ^ static_cast<std::byte>(1 + random.rng().below(255));
      if (decode_frame({copy.get(), bytes.size()}, decoded) == DecodeError::none) expect_stable(decoded);
      copy[at] = original;
    }
  }
}

TEST(WireDatagramProperty, EveryValueOfEveryByteOfSmallFramesIsRefusedOrStable) {
  DataPacket data;
  data.message_length = 4;
  data.first = true;
  AckPacket ack;
  ack.largest = 9;
  ack.range_count = 2;
  ack.ranges[0] = {0, 1};
  ack.ranges[1] = {1, 1};
  const Packet packets[] = {data, GrantPacket{}, ack, CutoffsPacket{}};
  FrameHeader header;
  header.destination.value = 1;
  for (const Packet& packet : packets) {
    const Bytes bytes = encode_frame(header, &packet, 1);
    const auto copy = exact_copy(bytes, bytes.size());
    Frame decoded;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        copy[at] = static_cast<std::byte>(value);
        if (decode_frame({copy.get(), bytes.size()}, decoded) == DecodeError::none) expect_stable(decoded);
      }
      copy[at] = bytes[at];
    }
  }
}

TEST(WireDatagramProperty, NoiseNeverReadsOutside) {
  Rng rng(8);
  Frame decoded;
  Bytes bytes(200);
  for (int i = 0; i < 100000; ++i) {
    for (auto& byte : bytes) byte = static_cast<std::byte>(rng.next() >> rng.below(60));
    const std::size_t size = rng.below(bytes.size());
    const auto copy = exact_copy(bytes, size);
    if (size > 4) {  // past the first checks
      copy[0] = std::byte{0x90};
      copy[1] &= std::byte{7};
      copy[2] = std::byte{0};
    }
    if (decode_frame({copy.get(), size}, decoded) == DecodeError::none) expect_stable(decoded);
  }
}

TEST(WireDatagramProperty, MessageAndPayloadSizesAtTheEdges) {
  const Bytes pool(65536);
  FrameHeader header;
  header.destination.value = 1;
  Frame decoded;
  for (const std::size_t size : {0U, 1U, 2U, 1399U, 1400U, 1433U, 1434U, 1471U, 1472U, 1473U, 8934U, 65469U}) {
    for (const std::uint64_t length : {std::uint64_t{size}, size + std::uint64_t{1}, kMaxMessageLength}) {
      DataPacket packet;
      packet.message_length = length;
      packet.payload = {pool.data(), size};
      packet.first = true;
      Packet any = packet;
      const Bytes at_start = encode_frame(header, &any, 1);
      ASSERT_EQ(decode_frame(view(at_start), decoded), DecodeError::none);
      ASSERT_TRUE(same(decoded.packets[0], any));
      if (size == 0 || length == size) continue;
      packet.offset = length - size;
      packet.first = false;
      any = packet;
      const Bytes at_end = encode_frame(header, &any, 1);
      ASSERT_EQ(decode_frame(view(at_end), decoded), DecodeError::none);
      ASSERT_TRUE(same(decoded.packets[0], any));
    }
  }
}

}  // namespace
}  // namespace homa::wire::test
