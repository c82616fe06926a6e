// The names in a certificate, and whether one of them is the one that was meant.
#pragma once

#include <string>
#include <vector>

struct x509_st;

namespace homa::security {

/// Subject alternative names: URIs first, then host names, then IP addresses. The common name counts for nothing
/// (RFC 6125 section 6.4.4, RFC 9525).
std::vector<std::string> peer_names(x509_st* certificate);

/// `name`: a URI if it has "://", an IP address if it reads as one, else a host name, against which the wildcards of
/// RFC 6125 hold.
bool has_name(x509_st* certificate, const std::string& name);

}  // namespace homa::security
