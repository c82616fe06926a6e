#include "parse.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "failure.h"
#include "homa/address.h"

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

/// Completes what users leave away: the port, and the brackets of an IPv6 address that stands alone.
std::string with_port(const std::string& text, std::uint16_t port) {
  const bool bracketed = text.starts_with('[');
  const std::size_t colon = text.find(':', bracketed ? std::min(text.find(']'), text.size()) : 0);
  if (colon == std::string::npos) return fmt::format("{}:{}", text, port);
  const bool bare_v6 = !bracketed && text.find(':', colon + 1) != std::string::npos;
  return bare_v6 ? fmt::format("[{}]:{}", text, port) : text;
}

Address look_up(const std::string& text, std::uint16_t default_port) {
  const Result<Address> address = homa::resolve(with_port(text, default_port));
  if (!address) throw usage_failure(address.error().message());
  return *address;
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

Duration require_positive_duration(const std::string& name, const std::string& text) {
  const Duration duration = require_duration(name, text);
  if (duration <= Duration::zero())
    throw usage_failure(fmt::format("{}: '{}' is no time at all; examples: 5s, 250ms", name, text));
  return duration;
}

Address resolve_server(const std::string& text, std::uint16_t default_port) {
  const Address address = look_up(text, default_port);
  if (address.port == 0 || address.host.is_unspecified()) {
    throw usage_failure(
        fmt::format("'{}' is not HOST:PORT of a server; examples: server:{}, 192.0.2.1:{}, [2001:db8::1]:{}", text,
                    default_port, default_port, default_port));
  }
  return address;
}

Address resolve_bind(const std::string& text, std::uint16_t default_port) {
  return look_up(text, default_port);
}

}  // namespace homa::tools
