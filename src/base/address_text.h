// Addresses as text, for people and for names in certificates: "10.0.0.1:4000", "[fe80::1%eth0]:4000".
//
// Thread rule: pure functions, except that the name of an interface is asked of the system.
#pragma once

#include <string>

#include "base/address.h"

namespace homa {

/// The scope is an interface name where it has one.
std::string format(const HostAddress& host);
std::string format(const Address& address);

}  // namespace homa
