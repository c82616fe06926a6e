#include "homa/address.h"

#include "base/address_text.h"
#include "net/resolve.h"

namespace homa {
namespace {

Result<Address> parse(std::string_view text, net::NameLookup lookup) {
  std::string wildcard;
  if (text.starts_with(':')) text = wildcard = std::string("*").append(text);
  net::Result<Address> address = net::parse_address(text, lookup);
  if (address) return *address;
  const net::NetErrorKind kind = address.error().kind;
  const bool by_name = kind == net::NetErrorKind::unknown_name || kind == net::NetErrorKind::name_service;
  return Error::explained(by_name ? ErrorCode::name_not_resolved : ErrorCode::bad_address, address.error().describe());
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  return parse(text, net::NameLookup::numeric_only);
}

Result<Address> resolve(std::string_view host_and_port) {
  return parse(host_and_port, net::NameLookup::allowed);
}

std::string to_string(const Address& address) {
  return format(address);
}

}  // namespace homa
