#include "net/resolve.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>

#include <cerrno>
#include <charconv>
#include <memory>

#include "net/socket_address.h"

namespace homa::net {
namespace {

constexpr const char* kForms = "write 10.0.0.1:4000, [fe80::1%eth0]:4000, host.example:4000 or *:4000";

NetError bad_text(std::string_view text, std::string cause, std::string cure = kForms) {
  return {NetErrorKind::bad_text, 0, "address \"" + std::string(text) + "\"", std::move(cause), std::move(cure)};
}

struct Parts {
  std::string_view host;
  std::string_view port;
  bool bracketed = false;
};

/// Fills `parts`; returns the cause of trouble, or null.
const char* split(std::string_view text, Parts& parts) {
  if (!text.empty() && text[0] == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return "the bracket is not closed";
    if (close + 1 >= text.size() || text[close + 1] != ':') return "the port is missing";
    parts = {text.substr(1, close - 1), text.substr(close + 2), true};
    return parts.host.empty() ? "the host is missing" : nullptr;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return "the port is missing";
  if (text.find(':') != colon) return "an IPv6 address must stand in brackets";
  parts = {text.substr(0, colon), text.substr(colon + 1), false};
  return parts.host.empty() ? "the host is missing" : nullptr;
}

template <typename Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

Result<HostAddress> parse_v6(std::string_view text, std::string_view whole) {
  const std::size_t percent = text.find('%');
  const std::string digits(text.substr(0, percent));
  in6_addr ip;
  if (inet_pton(AF_INET6, digits.c_str(), &ip) != 1) return bad_text(whole, "this is not an IPv6 address");
  HostAddress host = from_in6_addr(ip, 0);
  if (percent == std::string_view::npos) {
    if (!host.is_link_local()) return host;
    return NetError{NetErrorKind::scope_missing, 0, bad_text(whole, "").subject,
                    "a link-local address means nothing without its interface",
                    "write it as [" + digits + "%eth0]:port"};
  }
  const std::string scope(text.substr(percent + 1));
  if (!host.is_link_local()) return bad_text(whole, "only a link-local address takes a scope", "drop %" + scope);
  // A name before a number: an interface may be called "7".
  host.scope = if_nametoindex(scope.c_str());
  if (host.scope == 0 && (!read_number<std::uint32_t>(scope, host.scope) || host.scope == 0)) {
    return bad_text(whole, "there is no interface \"" + scope + "\"", "check `ip link`");
  }
  return host;
}

NetError lookup_error(int code, int error, std::string_view whole) {
  const std::string subject = bad_text(whole, "").subject;
  if (code == EAI_NONAME || code == EAI_NODATA || code == EAI_FAIL) {
    return {NetErrorKind::unknown_name, 0, subject, "the name service knows no such host",
            "check the spelling, /etc/hosts and the DNS"};
  }
  return {NetErrorKind::name_service, code == EAI_SYSTEM ? error : 0, subject,
          std::string("the name service failed: ") + gai_strerror(code), "check /etc/resolv.conf, or give the address"};
}

Result<HostAddress> lookup_name(const std::string& name, std::string_view whole) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int code = getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (code != 0) return lookup_error(code, errno, whole);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    SocketAddress name_out{};
    std::memcpy(&name_out, entry->ai_addr, std::min<std::size_t>(entry->ai_addrlen, sizeof(name_out)));
    const HostAddress host = decode(name_out).host;
    if (!host.is_link_local() || host.scope != 0) return host;
  }
  return lookup_error(EAI_NONAME, 0, whole);
}

Result<HostAddress> parse_host(const Parts& parts, std::string_view whole, NameLookup lookup) {
  if (parts.bracketed) return parse_v6(parts.host, whole);
  if (parts.host == "*") return HostAddress{};
  const std::string text(parts.host);
  in_addr ip;
  if (inet_pton(AF_INET, text.c_str(), &ip) == 1) return from_in_addr(ip);
  // "10.0.1" is a typing error, not a name, though the resolver would read it as 10.0.0.1.
  if (text.find_first_not_of("0123456789.") == std::string::npos) return bad_text(whole, "this is not an IPv4 address");
  if (lookup == NameLookup::numeric_only) return bad_text(whole, "a number is needed here, not a name");
  return lookup_name(text, whole);
}

}  // namespace

Result<Address> parse_address(std::string_view text, NameLookup lookup) {
  Parts parts;
  if (const char* trouble = split(text, parts)) return bad_text(text, trouble);
  std::uint16_t port = 0;
  if (!read_number(parts.port, port)) {
    return bad_text(text, "the port \"" + std::string(parts.port) + "\" is not a number from 0 to 65535");
  }
  const Result<HostAddress> host = parse_host(parts, text, lookup);
  if (!host) return host.error();
  return Address{*host, port};
}

}  // namespace homa::net
