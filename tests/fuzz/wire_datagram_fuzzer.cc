// Any bytes as a datagram frame: refused, or stable under encoding and decoding.
#include <cstdint>
#include <cstdlib>

#include "wire_support.h"

namespace {

using namespace homa;
using namespace homa::wire;

void check_clear(ByteView input) {
  static Frame frame;
  static Frame again;
  if (decode_frame(input, frame) != DecodeError::none) return;
  const test::Bytes bytes = test::encode_frame(frame);
  if (decode_frame(test::view(bytes), again) != DecodeError::none || !test::same(frame, again)) std::abort();
}

void check_sealed(ByteView input) {
  SealedLayout layout;
  static Frame frame;
  if (decode_sealed_layout(input, layout) != DecodeError::none) return;
  if (layout.authenticated.size + layout.ciphertext.size + layout.tag.size != input.size) std::abort();
  if (decode_header_block(layout.header, layout.header_block, layout.ciphertext, frame) != DecodeError::none) return;
  std::size_t payloads = 0;
  for (std::size_t i = 0; i < frame.packet_count; ++i) payloads += payload_size(frame.packets[i]);
  if (payloads != layout.ciphertext.size) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input{reinterpret_cast<const std::byte*>(data), size};
  check_clear(input);
  check_sealed(input);
  return 0;
}
