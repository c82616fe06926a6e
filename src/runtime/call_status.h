// The protocol's ways to end or refuse a call, as errors of the public API.
#pragma once

#include "homa/error.h"
#include "protocol/event.h"

namespace homa::runtime {

/// Precondition: status is not ok.
ErrorCode error_code(protocol::CallStatus status);
/// Precondition: error is not none.
ErrorCode error_code(protocol::StartError error);

/// The error of a call to `peer`, which it names, so that it still says something far from the call. About a silent
/// peer it says what went there and what came back: a firewall shows as "heard 0".
Error call_error(ErrorCode code, const Address& peer, protocol::PeerTraffic traffic = {});

}  // namespace homa::runtime
