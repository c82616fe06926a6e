// Codec of datagram frames (docs/wire.md sections 2 to 5): one frame is one UDP payload.
//
// Stateless free functions. Decoding checks every length before it reads, and the whole frame before it reports
// success, so a caller never acts on half a frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "wire/decode_error.h"
#include "wire/packet.h"

namespace homa::wire {

inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::size_t kFrameHeaderSize = 16;
inline constexpr std::size_t kSealTagSize = 16;  ///< AES-GCM and ChaCha20-Poly1305 tags (RFC 5116)
inline constexpr std::size_t kDataHeaderSize = 22;
inline constexpr std::size_t kDataFirstHeaderSize = 38;
inline constexpr std::size_t kGrantSize = 16;
inline constexpr std::size_t kAckFixedSize = 20;  ///< with its first range
inline constexpr std::size_t kAckRangeSize = 8;   ///< each further one
inline constexpr std::size_t kHelloSize = 48;
inline constexpr std::size_t kNoAssociationSize = 16;
inline constexpr std::size_t kCloseSize = 16;
inline constexpr std::size_t kPingSize = 4;
inline constexpr std::size_t kMtuProbeSize = 4;
inline constexpr std::size_t kCryptoSize = 12;
inline constexpr std::size_t kCutoffsSize = 36;
inline constexpr std::size_t kAbortSize = 12;
inline constexpr std::size_t kReleaseSize = 8;

/// More packets than this in one frame are refused: bounds the work that one datagram can ask for.
inline constexpr std::size_t kMaxPacketsPerFrame = 32;

/// Response-unscheduled limits travel in units of this many bytes, rounded down; 0xffff is "no limit".
inline constexpr std::uint32_t kResponseLimitUnit = 64;

/// Lane byte: bits 0..2 priority, 3..5 path (0 for now), 6..7 reserved.
constexpr std::uint8_t lane_byte(Priority priority) {
  return static_cast<std::uint8_t>(priority);
}

struct FrameHeader {
  bool sealed = false;
  bool key_phase = false;
  bool reversed = false;  ///< NO_ASSOCIATION: `destination` names the sender's own lost id
  Priority lane{};
  AssociationId destination;
  std::uint32_t packet_number = 0;  ///< low 32 bits of 64
};

/// A decoded frame. Large; keep one and reuse it.
struct Frame {
  FrameHeader header;
  std::size_t packet_count = 0;
  std::array<Packet, kMaxPacketsPerFrame> packets;
};

/// Decodes a clear frame (a sealed one is unknown_form here). On error `frame` is unspecified and must not be read.
/// Payload views point into `datagram`.
[[nodiscard]] DecodeError decode_frame(ByteView datagram, Frame& frame);

/// Reads only the fixed 16 bytes; enough to find the association (and, later, the keys).
[[nodiscard]] DecodeError decode_frame_header(ByteView datagram, FrameHeader& header);

/// A sealed frame taken apart, nothing decrypted. Views point into the datagram.
struct SealedLayout {
  FrameHeader header;
  ByteView authenticated;  ///< from byte 0 to the end of the header block: the associated data of the seal
  ByteView header_block;   ///< the tail of `authenticated` that holds the packet headers
  ByteView ciphertext;     ///< the payload block, as long as its clear text
  ByteView tag;            ///< kSealTagSize bytes
};

/// Splits a sealed frame by its lengths; unknown_form for a clear one. Proves nothing: check the tag before use.
[[nodiscard]] DecodeError decode_sealed_layout(ByteView datagram, SealedLayout& layout);

/// Decodes packet headers under the rules that hold for frames with `header`; decode_frame is this after a split.
/// Payload views point into `payload_block`, whose bytes are not read: it may still be ciphertext.
[[nodiscard]] DecodeError decode_header_block(const FrameHeader& header, ByteView header_block, ByteView payload_block,
                                              Frame& frame);

/// Bytes that the packet takes in a header block (payload not counted). 0 for packets of the native carrier only.
[[nodiscard]] std::size_t encoded_size(const Packet& packet);

/// Bytes that the packet takes in the payload block.
[[nodiscard]] std::size_t payload_size(const Packet& packet);

/// Writes one packet's header at `out` and returns its size. The caller appends payload bytes after all headers.
/// Precondition: encoded_size(packet) bytes are writable at `out`; every field is within its wire range.
std::size_t encode_packet(const Packet& packet, std::byte* out);

/// The hot path: one DATA header without building a variant. Returns 22 or 38.
std::size_t encode_data(const DataPacket& packet, std::byte* out);

/// Likewise for ACK, which is large as a variant. Returns 20 plus 8 for each range after the first.
std::size_t encode_ack(const AckPacket& packet, std::byte* out);

/// Writes the 16-byte frame header. `header_block_length` counts all packet headers, not the frame header.
void encode_frame_header(const FrameHeader& header, std::size_t header_block_length, std::byte* out);

/// Full packet number closest to `expected` whose low 32 bits are `low` (RFC 9000 appendix A.3, with a fixed width).
constexpr std::uint64_t expand_packet_number(std::uint32_t low, std::uint64_t expected) {
  constexpr std::uint64_t window = std::uint64_t{1} << 32;
  const std::uint64_t candidate = (expected & ~(window - 1)) | low;
  if (candidate + window / 2 <= expected) return candidate + window;
  if (candidate > expected + window / 2 && candidate >= window) return candidate - window;
  return candidate;
}

}  // namespace homa::wire
