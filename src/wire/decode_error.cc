#include "wire/decode_error.h"

namespace homa::wire {

const char* to_string(DecodeError error) {
  switch (error) {
    case DecodeError::none:
      return "none";
    case DecodeError::truncated:
      return "truncated";
    case DecodeError::trailing_bytes:
      return "trailing bytes";
    case DecodeError::unknown_form:
      return "unknown form";
    case DecodeError::unknown_type:
      return "unknown type";
    case DecodeError::reserved_bits:
      return "reserved bits";
    case DecodeError::bad_value:
      return "bad value";
    case DecodeError::too_many_packets:
      return "too many packets";
  }
  return "unknown error";
}

}  // namespace homa::wire
