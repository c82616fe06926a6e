#include "runtime/call_status.h"

namespace homa::runtime {

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

}  // namespace homa::runtime
