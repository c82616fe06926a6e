// Addresses in simulated networks: of those who take part, and of those who do not.
#pragma once

#include <cstdint>

#include "base/address.h"

namespace homa::sim {

enum class AddressFamily : std::uint8_t { v4, v6, v6_link_local };

/// Host `number` of network `network`.
inline HostAddress host_address(AddressFamily family, std::uint8_t network, std::uint8_t number) {
  if (family == AddressFamily::v4) return HostAddress::v4(10, 0, network, number);
  HostAddress host;
  if (family == AddressFamily::v6) host.ip[0] = 0xfd;  // unique local, RFC 4193
  if (family == AddressFamily::v6_link_local) {
    host.ip[0] = 0xfe;
    host.ip[1] = 0x80;
    host.scope = 2;
  }
  host.ip[13] = network;
  host.ip[15] = number;
  return host;
}

/// An address kept for documentation (RFC 5737, RFC 3849), so that nobody who takes part has it; of the same family as
/// `like`.
inline HostAddress foreign_address(const HostAddress& like, std::uint8_t number) {
  if (like.is_v4()) return HostAddress::v4(198, 51, 100, number);
  HostAddress host;
  host.ip = {0x20, 0x01, 0x0d, 0xb8};
  host.ip[15] = number;
  return host;
}

}  // namespace homa::sim
