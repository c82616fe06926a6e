// Shared by the tests and fuzzers of the wire: whole frames to and from bytes, and equality of packets.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "wire/datagram.h"
#include "wire/native.h"

namespace homa::wire::test {

using Bytes = std::vector<std::byte>;

/// "0a 0b0c": spaces are ignored. Aborts on anything but whole bytes.
Bytes bytes_of(std::string_view hex);

inline ByteView view(const Bytes& bytes) {
  return {bytes.data(), bytes.size()};
}

/// A clear frame as the core would send it: header, packet headers, payloads.
Bytes encode_frame(const FrameHeader& header, const Packet* packets, std::size_t count);
inline Bytes encode_frame(const Frame& frame) {
  return encode_frame(frame.header, frame.packets.data(), frame.packet_count);
}

Bytes encode_native_packet(const NativeHeader& header, const Packet& packet);

/// Field by field; payloads by their bytes.
bool same(const Packet& a, const Packet& b);
bool same(const FrameHeader& a, const FrameHeader& b);
bool same(const Frame& a, const Frame& b);
bool same(const NativeHeader& a, const NativeHeader& b);

}  // namespace homa::wire::test
