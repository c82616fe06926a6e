#include "parse.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "failure.h"

namespace homa::tools {
namespace {

struct Number {
  double value = 0;
  std::string_view unit;
};

/// A non-negative decimal number and what follows it.
std::optional<Number> split_number(std::string_view text) {
  Number number;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number.value, std::chars_format::fixed);
  if (error != std::errc() || !(number.value >= 0)) return std::nullopt;
  number.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<double> size_factor(std::string_view unit) {
  if (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b')) unit.remove_suffix(1);
  if (unit.empty()) return 1;
  const double base = unit.size() == 2 && unit[1] == 'i' ? 1024 : 1000;
  if (unit.size() > 2 || (unit.size() == 2 && base != 1024)) return std::nullopt;
  switch (unit[0]) {
    case 'k':
    case 'K':
      return base;
    case 'M':
    case 'm':
      return base * base;
    case 'G':
    case 'g':
      return base * base * base;
    default:
      return std::nullopt;
  }
}

std::optional<double> nanoseconds_per(std::string_view unit) {
  if (unit.empty() || unit == "s") return 1e9;
  if (unit == "ms") return 1e6;
  if (unit == "us") return 1e3;
  if (unit == "ns") return 1;
  if (unit == "m" || unit == "min") return 60e9;
  if (unit == "h") return 3600e9;
  return std::nullopt;
}

Address from_sockaddr(const sockaddr* address) {
  Address result;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    const auto* octets = reinterpret_cast<const std::uint8_t*>(&v4.sin_addr);
    result.host = HostAddress::v4(octets[0], octets[1], octets[2], octets[3]);
    result.port = ntohs(v4.sin_port);
  } else {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    std::memcpy(result.host.ip.data(), &v6.sin6_addr, 16);
    result.host.scope = v6.sin6_scope_id;
    result.port = ntohs(v6.sin6_port);
  }
  return result;
}

Address look_up(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  const std::size_t percent = host.find('%');
  if (error != 0 && percent != std::string::npos && if_nametoindex(host.c_str() + percent + 1) == 0) {
    throw usage_failure(
        fmt::format("no interface '{}' for '{}'; `ip link` lists them", host.substr(percent + 1), host));
  }
  if (error != 0) {
    throw usage_failure(fmt::format("cannot resolve '{}': {}; check the name, or give an IP address", host,
                                    error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  return from_sockaddr(found->ai_addr);
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto port = parse_unsigned(text);
  if (!port || *port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*port);
}

}  // namespace

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  if (const auto plain = parse_unsigned(text)) return plain;
  const auto number = split_number(text);
  if (!number) return std::nullopt;
  const auto factor = size_factor(number->unit);
  if (!factor || number->value * *factor > 9e18) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(number->value * *factor));
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto number = split_number(text);
  if (!number) return std::nullopt;
  const auto factor = nanoseconds_per(number->unit);
  if (!factor || number->value * *factor > 9e18) return std::nullopt;
  return Duration(std::llround(number->value * *factor));
}

std::uint64_t require_size(const std::string& name, const std::string& text) {
  const auto size = parse_size(text);
  if (!size) throw usage_failure(fmt::format("{}: '{}' is not a size; examples: 100, 64k, 1MB, 2GiB", name, text));
  return *size;
}

Duration require_duration(const std::string& name, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration) throw usage_failure(fmt::format("{}: '{}' is not a time; examples: 5s, 250ms, 10us", name, text));
  return *duration;
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  HostPort result;
  std::string_view port_text;
  if (!text.empty() && text[0] == '[') {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    result.host = text.substr(1, close - 1);
    if (close + 1 < text.size()) {
      if (text[close + 1] != ':') return std::nullopt;
      port_text = text.substr(close + 2);
      result.has_port = true;
    }
  } else if (const auto colon = text.find(':');
             colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos) {
    result.host = text.substr(0, colon);  // exactly one colon; more of them are a bare IPv6 address
    port_text = text.substr(colon + 1);
    result.has_port = true;
  } else {
    result.host = text;
  }
  if (result.has_port) {
    const auto port = parse_port(port_text);
    if (!port) return std::nullopt;
    result.port = *port;
  }
  return result;
}

Address resolve(const std::string& text, std::uint16_t default_port) {
  const auto target = parse_host_port(text);
  if (!target || target->host.empty() || (target->has_port && target->port == 0)) {
    throw usage_failure(fmt::format("'{}' is not HOST:PORT; examples: server:{}, 192.0.2.1:{}, [2001:db8::1]:{}", text,
                                    default_port, default_port, default_port));
  }
  return look_up(target->host, target->has_port ? target->port : default_port);
}

Address resolve_bind(const std::string& text, std::uint16_t default_port) {
  const auto target = parse_host_port(text);
  if (!target) {
    throw usage_failure(fmt::format("'{}' is not an address to listen on; examples: :{}, 192.0.2.1:{}, [::1]:0", text,
                                    default_port, default_port));
  }
  const std::uint16_t port = target->has_port ? target->port : default_port;
  if (target->host.empty() || target->host == "*") return Address{HostAddress{}, port};
  return look_up(target->host, port);
}

std::string to_text(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.host.is_v4()) {
    ::inet_ntop(AF_INET, address.host.ip.data() + 12, text, sizeof text);
    return fmt::format("{}:{}", text, address.port);
  }
  ::inet_ntop(AF_INET6, address.host.ip.data(), text, sizeof text);
  char interface[IF_NAMESIZE] = "";
  if (address.host.scope != 0 && ::if_indextoname(address.host.scope, interface) != nullptr) {
    return fmt::format("[{}%{}]:{}", text, interface, address.port);
  }
  return fmt::format("[{}]:{}", text, address.port);
}

}  // namespace homa::tools
