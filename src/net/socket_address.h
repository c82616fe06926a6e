// Between homa::Address and the kernel's sockaddr. Internal to src/net.
//
// Canonical form, so that one peer is one Address: IPv4 always mapped, scope only on link-local addresses.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "base/address.h"

namespace homa::net {

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

inline bool is_unspecified(const HostAddress& host) {
  std::uint32_t words[4];
  std::memcpy(words, host.ip.data(), sizeof(words));
  return (words[0] | words[1] | words[3]) == 0 && (words[2] == 0 || host.is_v4());
}

inline bool is_multicast(const HostAddress& host) {
  return host.is_v4() ? (host.ip[12] & 0xf0) == 0xe0 : host.ip[0] == 0xff;
}

inline in_addr to_in_addr(const HostAddress& host) {
  in_addr result;
  std::memcpy(&result, host.ip.data() + 12, 4);
  return result;
}

inline in6_addr to_in6_addr(const HostAddress& host) {
  in6_addr result;
  std::memcpy(&result, host.ip.data(), 16);
  return result;
}

inline HostAddress from_in_addr(in_addr ip) {
  HostAddress host = HostAddress::v4(0, 0, 0, 0);
  std::memcpy(host.ip.data() + 12, &ip, 4);
  return host;
}

inline HostAddress from_in6_addr(const in6_addr& ip, std::uint32_t scope) {
  HostAddress host;
  std::memcpy(host.ip.data(), &ip, 16);
  host.scope = host.is_link_local() ? scope : 0;
  return host;
}

/// For a socket of family AF_INET6 or AF_INET. Returns the length, or 0 when such a socket cannot name the address.
inline socklen_t encode(const Address& address, bool ipv6, SocketAddress& out) {
  const HostAddress& host = address.host;
  if (host.is_link_local() && host.scope == 0) return 0;
  if (ipv6) {
    out.v6 = {};
    out.v6.sin6_family = AF_INET6;
    out.v6.sin6_port = htons(address.port);
    out.v6.sin6_addr = to_in6_addr(host);
    out.v6.sin6_scope_id = host.is_link_local() ? host.scope : 0;
    return sizeof(sockaddr_in6);
  }
  if (!host.is_v4()) return 0;
  out.v4 = {};
  out.v4.sin_family = AF_INET;
  out.v4.sin_port = htons(address.port);
  out.v4.sin_addr = to_in_addr(host);
  return sizeof(sockaddr_in);
}

/// Anything else than the two families gives the zero Address.
inline Address decode(const SocketAddress& in) {
  if (in.any.sa_family == AF_INET6) {
    return {from_in6_addr(in.v6.sin6_addr, in.v6.sin6_scope_id), ntohs(in.v6.sin6_port)};
  }
  if (in.any.sa_family == AF_INET) return {from_in_addr(in.v4.sin_addr), ntohs(in.v4.sin_port)};
  return {};
}

}  // namespace homa::net
