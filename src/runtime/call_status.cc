#include "runtime/call_status.h"

#include <string>

#include "base/address_text.h"

namespace homa::runtime {
namespace {

/// Why an address cannot be a peer's, see Address::can_be_peer().
std::string_view address_problem(const Address& peer) {
  if (peer.host.is_multicast()) return "a multicast address";
  if (peer.host.is_broadcast()) return "a broadcast address";
  if (peer.host.is_unspecified()) return "it means every address of a host";
  if (peer.host.is_link_local() && peer.host.scope == 0) return "link-local without its interface";
  return "port 0";
}

}  // namespace

ErrorCode error_code(protocol::CallStatus status) {
  using protocol::CallStatus;
  switch (status) {
    case CallStatus::ok:
      break;
    case CallStatus::cancelled:
      return ErrorCode::cancelled;
    case CallStatus::deadline_exceeded:
      return ErrorCode::deadline_exceeded;
    case CallStatus::peer_unreachable:
      return ErrorCode::peer_unreachable;
    case CallStatus::peer_timeout:
      return ErrorCode::peer_timeout;
    case CallStatus::outcome_unknown:
      return ErrorCode::outcome_unknown;
    case CallStatus::refused:
      return ErrorCode::refused;
    case CallStatus::no_handler:
      return ErrorCode::no_handler;
    case CallStatus::too_long:
      return ErrorCode::too_long;
    case CallStatus::peer_closed:
      return ErrorCode::peer_closed;
    case CallStatus::protocol_error:
      return ErrorCode::protocol_error;
    case CallStatus::shut_down:
      return ErrorCode::shut_down;
  }
  return ErrorCode::protocol_error;
}

ErrorCode error_code(protocol::StartError error) {
  using protocol::StartError;
  switch (error) {
    case StartError::none:
      break;
    case StartError::would_block:
    case StartError::table_full:
      return ErrorCode::would_block;
    case StartError::too_long:
      return ErrorCode::too_long;
    case StartError::no_address:
      return ErrorCode::no_address;
    case StartError::deadline_passed:
      return ErrorCode::deadline_exceeded;
    case StartError::shut_down:
      return ErrorCode::shut_down;
  }
  return ErrorCode::protocol_error;
}

Error call_error(ErrorCode code, const Address& peer, protocol::PeerTraffic traffic) {
  std::string detail = format(peer);
  if (code == ErrorCode::no_address) detail.append(": ").append(address_problem(peer));
  const bool silent =
      code == ErrorCode::peer_unreachable || code == ErrorCode::peer_timeout || code == ErrorCode::deadline_exceeded;
  if (silent && traffic.sent > 0) {
    detail.append(": sent ").append(std::to_string(traffic.sent)).append(traffic.sent == 1 ? " packet" : " packets");
    detail.append(", heard ").append(std::to_string(traffic.heard));
    if (traffic.heard == 0 && code == ErrorCode::deadline_exceeded) {
      detail.append(", so nobody is there or a firewall drops UDP");
    }
  }
  return {code, std::move(detail)};
}

}  // namespace homa::runtime
