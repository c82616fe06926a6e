// Addresses of peers: the value types, and the way from and to text.
//
// Everything here is a value or a pure function, usable from any thread; only resolve() may wait (for DNS).
#pragma once

#include <string>
#include <string_view>

#include "homa/base/address.h"
#include "homa/error.h"

namespace homa {

/// "192.0.2.1:4000", "[2001:db8::1]:4000" or, with an interface, "[fe80::1%eth0]:4000". Numbers only, never waits.
/// "*:4000" and ":4000" mean every local address. Errors: bad_address.
Result<Address> parse_address(std::string_view text);

/// Like parse_address(), and host names too: asks the system's resolver, which may take seconds. Resolve once and keep
/// the result. Errors: bad_address, name_not_resolved.
Result<Address> resolve(std::string_view host_and_port);

/// The inverse of parse_address().
std::string to_string(const Address& address);

}  // namespace homa
