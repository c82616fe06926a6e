#include "protocol/protection.h"

namespace homa::protocol {

const char* to_string(SecurityFault fault) {
  switch (fault) {
    case SecurityFault::none:
      return "none";
    case SecurityFault::unknown_authority:
      return "unknown certificate authority";
    case SecurityFault::name_mismatch:
      return "certificate for another name";
    case SecurityFault::expired:
      return "certificate expired";
    case SecurityFault::not_yet_valid:
      return "certificate not yet valid";
    case SecurityFault::bad_certificate:
      return "bad certificate";
    case SecurityFault::no_certificate:
      return "no certificate";
    case SecurityFault::wrong_key:
      return "wrong pre-shared key";
    case SecurityFault::not_allowed:
      return "not on the allow-list";
    case SecurityFault::nothing_in_common:
      return "no cipher or version in common";
    case SecurityFault::peer_is_clear:
      return "the peer speaks only clear";
    case SecurityFault::peer_is_sealed:
      return "the peer demands encryption";
    case SecurityFault::tampered:
      return "handshake tampered with on its way";
    case SecurityFault::protocol:
      return "not a valid handshake";
  }
  return "unknown";
}

}  // namespace homa::protocol
