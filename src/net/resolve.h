// Addresses as people write them: "10.0.0.1:4000", "[fe80::1%eth0]:4000", "[::]:0", "host.example:4000".
//
// Thread rule: pure functions, except that names ask the system's name service, which blocks.
#pragma once

#include <string>
#include <string_view>

#include "base/address.h"
#include "net/result.h"

namespace homa::net {

enum class NameLookup : std::uint8_t { allowed, numeric_only };

/// Reads "host:port". IPv6 must stand in brackets; "*" is the wildcard of both families. A name with several addresses
/// gives the first that the system prefers. parse_address(format(a)) == a.
Result<Address> parse_address(std::string_view text, NameLookup lookup = NameLookup::allowed);

}  // namespace homa::net
