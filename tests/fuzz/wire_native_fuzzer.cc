// Any bytes as a native packet: refused, or stable under encoding and decoding.
#include <cstdint>
#include <cstdlib>

#include "wire_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace homa::wire;
  NativeHeader header;
  NativeHeader header_again;
  Packet packet;
  Packet packet_again;
  const homa::ByteView input{reinterpret_cast<const std::byte*>(data), size};
  if (decode_native(input, header, packet) != DecodeError::none) return 0;
  const test::Bytes bytes = test::encode_native_packet(header, packet);
  if (decode_native(test::view(bytes), header_again, packet_again) != DecodeError::none) std::abort();
  if (!test::same(header, header_again) || !test::same(packet, packet_again)) std::abort();
  return 0;
}
