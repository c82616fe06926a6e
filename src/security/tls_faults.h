// What OpenSSL says when a handshake fails, in our terms.
#pragma once

#include <string>
#include <string_view>

#include "protocol/protection.h"

struct ssl_st;

namespace homa::security {

struct TlsFault {
  protocol::SecurityFault fault = protocol::SecurityFault::protocol;
  std::string words;
  bool by_peer = false;  ///< it came as an alert
};

/// After a failed call on `ssl`, before its errors are cleared.
TlsFault last_tls_fault(const ssl_st* ssl, bool with_psk);

/// For text from the network: what is not printable ASCII becomes '?'.
std::string printable(std::string_view text);

}  // namespace homa::security
