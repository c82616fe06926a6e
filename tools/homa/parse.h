// What users type on a command line, as values: sizes, durations, HOST:PORT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/time.h"

namespace homa::tools {

/// Digits only.
std::optional<std::uint64_t> parse_unsigned(std::string_view text);
/// "100", "64k", "1MB", "1.5GiB": k/M/G are powers of 1000, Ki/Mi/Gi of 1024, an ending B is allowed.
std::optional<std::uint64_t> parse_size(std::string_view text);
/// "5s", "250ms", "10us", "100ns", "2m", "1h"; a bare number is seconds.
std::optional<Duration> parse_duration(std::string_view text);

/// The same, for option `name`: throws Failure that shows an example.
std::uint64_t require_size(const std::string& name, const std::string& text);
Duration require_duration(const std::string& name, const std::string& text);

/// A host as typed (a name, IPv4, IPv6 with or without %zone) and a port.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
  bool has_port = false;
};

/// "host:port", "[v6]:port", "host", "v6", ":port". Nothing when it is none of them.
std::optional<HostPort> parse_host_port(std::string_view text);

/// Resolves HOST:PORT to the first address that the system names. Throws Failure.
Address resolve(const std::string& text, std::uint16_t default_port);
/// The same for an address to listen on: an empty host is every address, IPv6 and IPv4.
Address resolve_bind(const std::string& text, std::uint16_t default_port);

/// "192.0.2.1:4000" or "[2001:db8::1%eth0]:4000".
std::string to_text(const Address& address);

}  // namespace homa::tools
