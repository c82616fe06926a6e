// What the protocol wants on the wire next: a train of frames to one peer at one priority.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/address.h"
#include "base/bytes.h"
#include "base/units.h"

namespace homa::protocol {

class FrameKeys;

/// Segments of one train: what one segmented send of Linux takes (UDP_MAX_SEGMENTS of kernels before 6.9).
inline constexpr std::size_t kMaxTrainSegments = 64;
/// Payload pieces of one train; a message gathered from more and smaller pieces makes shorter trains.
inline constexpr std::size_t kMaxTrainPieces = 256;
/// Bytes of all segments together: the largest UDP payload over IPv4.
inline constexpr std::size_t kMaxTrainBytes = 65507;

/// One frame: its headers, written by the core, then payload pieces that the core only refers to.
struct Segment {
  ByteView header;  ///< frame header and header block, inside Train::header_arena
  std::uint16_t first_piece = 0;
  std::uint16_t piece_count = 0;
  std::uint16_t size = 0;  ///< header and payload bytes; when sealed also those of the tag
};

/// Filled by Endpoint::next_transmit(). All segments but the last have equal size. The payload pieces stay valid until
/// the next call of any non-const member of the endpoint. Keep one and reuse it: it is large.
struct Train {
  Address to;
  HostAddress from;  ///< all zero: the system chooses
  Priority priority{};
  Ecn ecn = Ecn::not_ect;
  bool is_mtu_probe = false;
  FrameKeys* keys = nullptr;  ///< seals it; null: clear
  std::uint8_t lane = 0;      ///< lane byte; with first_number and up: the numbers of the segments
  // Internal: which packet numbers these are, for transmit_failed().
  std::uint32_t association = 0;
  std::uint32_t association_generation = 0;
  std::uint64_t first_number = 0;
  std::size_t segment_count = 0;
  std::size_t piece_count = 0;
  std::size_t header_bytes = 0;
  std::size_t total_bytes = 0;
  std::array<Segment, kMaxTrainSegments> segments;
  std::array<ByteView, kMaxTrainPieces> pieces;
  std::array<std::byte, 8192> header_arena;

  std::size_t segment_size() const { return segment_count == 0 ? 0 : segments[0].size; }
};

/// Writes the whole train at `out` (total_bytes writable), segment after segment: the one copy of sending.
inline std::size_t flatten(const Train& train, std::byte* out) {
  std::byte* at = out;
  for (std::size_t s = 0; s < train.segment_count; ++s) {
    const Segment& segment = train.segments[s];
    std::memcpy(at, segment.header.data, segment.header.size);
    at += segment.header.size;
    for (std::size_t p = 0; p < segment.piece_count; ++p) {
      const ByteView& piece = train.pieces[segment.first_piece + p];
      std::memcpy(at, piece.data, piece.size);
      at += piece.size;
    }
  }
  return static_cast<std::size_t>(at - out);
}

}  // namespace homa::protocol
