// Sealed frames for tests: a train of one DATA packet a frame, sealed, and frames taken apart again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/protection.h"
#include "protocol/train.h"
#include "security/frame_keys.h"
#include "wire/datagram.h"

namespace homa::security::test {

using Bytes = std::vector<std::byte>;

inline SecretBytes secret_of(std::string_view hex) {
  SecretBytes result;
  result.resize(hex.size() / 2);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result.data()[i] = static_cast<std::uint8_t>(std::stoul(std::string(hex.substr(2 * i, 2)), nullptr, 16));
  }
  return result;
}

inline std::string hex(const std::uint8_t* data, std::size_t size) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (std::size_t i = 0; i < size; ++i) (result += digits[data[i] >> 4]) += digits[data[i] & 15];
  return result;
}

inline SecretBytes repeated(AeadKind kind, std::uint8_t value) {
  SecretBytes result;
  result.resize(secret_size(kind));
  for (std::size_t i = 0; i < result.size(); ++i) result.data()[i] = value;
  return result;
}

/// Keys of the two ends of one association.
struct Ends {
  explicit Ends(AeadKind kind, std::uint64_t frames_per_key = kFramesPerKey)
      : client({kind, repeated(kind, 1), repeated(kind, 2)}, frames_per_key),
        server({kind, repeated(kind, 2), repeated(kind, 1)}, frames_per_key) {}
  FrameKeys client;
  FrameKeys server;
};

/// Seals `payload`, cut into `pieces` pieces, as one frame of one DATA packet.
inline Bytes sealed_frame(FrameKeys& keys, std::uint8_t lane, std::uint64_t number, std::string_view payload,
                          std::size_t pieces = 1) {
  static protocol::Train train;  // large
  train.lane = lane;
  train.first_number = number;
  wire::FrameHeader header;
  header.sealed = true;
  header.key_phase = keys.next_phase();
  header.lane = static_cast<Priority>(lane);
  header.destination = {0x0102030405060708};
  header.packet_number = static_cast<std::uint32_t>(number);
  wire::DataPacket data;
  data.id = wire::RpcId::of(3, 1);
  data.message_length = payload.size();
  data.incoming = payload.size();
  data.first = true;
  data.payload = {reinterpret_cast<const std::byte*>(payload.data()), payload.size()};

  std::byte* const arena = train.header_arena.data();
  const std::size_t block = wire::encode_data(data, arena + wire::kFrameHeaderSize);
  wire::encode_frame_header(header, block, arena);
  const std::size_t piece = payload.size() / pieces;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = i * piece;
    train.pieces[i] = {data.payload.data + begin, i + 1 == pieces ? payload.size() - begin : piece};
  }
  protocol::Segment& segment = train.segments[0];
  segment.header = {arena, wire::kFrameHeaderSize + block};
  segment.first_piece = 0;
  segment.piece_count = static_cast<std::uint16_t>(pieces);
  segment.size = static_cast<std::uint16_t>(segment.header.size + payload.size() + wire::kSealTagSize);
  train.segment_count = 1;
  train.total_bytes = segment.size;
  Bytes out(segment.size);
  keys.seal(train, out.data());
  return out;
}

/// Opens a frame whose full number is `number`; the payload, cut at `first` bytes, ends in `clear`.
inline bool open_frame(FrameKeys& keys, const Bytes& frame, std::uint64_t number, std::string& clear,
                       std::size_t first = 0) {
  wire::SealedLayout layout;
  if (wire::decode_sealed_layout({frame.data(), frame.size()}, layout) != wire::DecodeError::none) return false;
  clear.assign(layout.ciphertext.size, '\0');
  auto* const out = reinterpret_cast<std::byte*>(clear.data());
  const protocol::SealedFrame::Piece pieces[] = {{out, first}, {out + first, clear.size() - first}};
  protocol::SealedFrame sealed;
  sealed.key_phase = layout.header.key_phase;
  sealed.lane = static_cast<std::uint8_t>(layout.header.lane);
  sealed.number = number;
  sealed.authenticated = layout.authenticated;
  sealed.ciphertext = layout.ciphertext;
  sealed.tag = layout.tag.data;
  sealed.pieces = pieces;
  sealed.piece_count = 2;
  return keys.open(sealed);
}

}  // namespace homa::security::test
