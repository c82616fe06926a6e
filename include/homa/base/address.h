// Network addresses as plain values: the protocol core compares and hashes them, the drivers translate them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace homa {

/// A host: an IPv6 address, or an IPv4 address in its v4-mapped form (::ffff:a.b.c.d, RFC 4291 section 2.5.5.2).
/// `scope` is the interface index of a link-local address and 0 otherwise.
struct HostAddress {
  std::array<std::uint8_t, 16> ip{};
  std::uint32_t scope = 0;

  static constexpr HostAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
    HostAddress host;
    host.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d};
    return host;
  }
  constexpr bool is_v4() const {
    constexpr std::array<std::uint8_t, 4> kBeforeV4 = {0, 0, 0xff, 0xff};
    const auto words = std::bit_cast<std::array<std::uint32_t, 4>>(ip);  // by words: asked for every packet
    return (words[0] | words[1]) == 0 && words[2] == std::bit_cast<std::uint32_t>(kBeforeV4);
  }
  /// fe80::/10, meaningless without a scope.
  constexpr bool is_link_local() const { return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80; }
  /// Every address of this host (:: or 0.0.0.0): to listen at, never a peer.
  constexpr bool is_unspecified() const {
    const auto words = std::bit_cast<std::array<std::uint32_t, 4>>(ip);
    return (words[0] | words[1] | words[3]) == 0 && (words[2] == 0 || is_v4());
  }
  /// ff00::/8 (RFC 4291 section 2.7) or 224.0.0.0/4.
  constexpr bool is_multicast() const { return is_v4() ? (ip[12] & 0xf0) == 0xe0 : ip[0] == 0xff; }
  /// 255.255.255.255. That of one network, as 10.0.0.255, is known only to the host's interfaces.
  constexpr bool is_broadcast() const {
    const auto words = std::bit_cast<std::array<std::uint32_t, 4>>(ip);
    return is_v4() && words[3] == 0xffffffff;
  }
  friend constexpr bool operator==(const HostAddress& a, const HostAddress& b) {
    using Words = std::array<std::uint64_t, 2>;
    const Words left = std::bit_cast<Words>(a.ip);
    const Words right = std::bit_cast<Words>(b.ip);
    return ((left[0] ^ right[0]) | (left[1] ^ right[1])) == 0 && a.scope == b.scope;
  }
  friend constexpr bool operator!=(const HostAddress& a, const HostAddress& b) { return !(a == b); }
};

/// A UDP endpoint (or a native Homa port) on a host. Port in host byte order; 0 is never a peer.
struct Address {
  HostAddress host;
  std::uint16_t port = 0;
  /// It names one peer: what has no port or interface, or means many hosts or our own, can never answer.
  constexpr bool can_be_peer() const {
    return port != 0 && !(host.is_link_local() && host.scope == 0) && !host.is_unspecified() && !host.is_multicast() &&
           !host.is_broadcast();
  }
  friend constexpr bool operator==(const Address& a, const Address& b) { return a.host == b.host && a.port == b.port; }
  friend constexpr bool operator!=(const Address& a, const Address& b) { return !(a == b); }
};

/// Finalizer of splitmix64: spreads every input bit over the result.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Hashes take a per-endpoint secret so that a peer cannot choose colliding addresses.
inline std::uint64_t hash(const HostAddress& host, std::uint64_t secret) {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::memcpy(&high, host.ip.data(), 8);
  std::memcpy(&low, host.ip.data() + 8, 8);
  return mix64(mix64(mix64(high ^ secret) + low) + host.scope);
}
inline std::uint64_t hash(const Address& address, std::uint64_t secret) {
  return mix64(hash(address.host, secret) + address.port);
}

}  // namespace homa
