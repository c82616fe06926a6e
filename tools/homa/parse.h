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
Duration require_positive_duration(const std::string& name, const std::string& text);

/// The address of a server: homa::resolve(), which also takes a host without a port. Throws Failure.
Address resolve_server(const std::string& text, std::uint16_t default_port);
/// The same for an address to listen on: port 0 is any, and no host (":4000") or "*" every address, IPv6 and IPv4.
Address resolve_bind(const std::string& text, std::uint16_t default_port);

}  // namespace homa::tools
