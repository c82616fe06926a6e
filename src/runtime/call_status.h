// The protocol's ways to end or refuse a call, as errors of the public API.
#pragma once

#include "homa/error.h"
#include "protocol/event.h"

namespace homa::runtime {

/// Precondition: status is not ok.
ErrorCode error_code(protocol::CallStatus status);
/// Precondition: error is not none.
ErrorCode error_code(protocol::StartError error);

}  // namespace homa::runtime
