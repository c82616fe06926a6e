// Why bytes from the network were refused; shared by both codecs.
#pragma once

#include <cstdint>

namespace homa::wire {

enum class DecodeError : std::uint8_t {
  none,
  truncated,       ///< shorter than its own lengths say
  trailing_bytes,  ///< longer than its own lengths say
  unknown_form,    ///< not a frame of ours, or of a version not spoken
  unknown_type,    ///< a packet type not known
  reserved_bits,   ///< bits that must be 0 are not
  bad_value,       ///< a field outside its range (offset + length beyond the message, no ranges, ...)
  too_many_packets,
};
const char* to_string(DecodeError error);

}  // namespace homa::wire
