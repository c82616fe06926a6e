#include "security/peer_names.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace homa::security {
namespace {

struct FreeNames {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

std::string_view text_of(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<std::size_t>(ASN1_STRING_length(string))};
}

std::string ip_text(std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  return inet_ntop(family, bytes.data(), text.data(), text.size()) != nullptr ? text.data() : "";
}

std::string text_of(const GENERAL_NAME& name) {
  switch (name.type) {
    case GEN_URI:
      return std::string(text_of(name.d.uniformResourceIdentifier));
    case GEN_DNS:
      return std::string(text_of(name.d.dNSName));
    case GEN_IPADD:
      return ip_text(text_of(name.d.iPAddress));
    default:
      return {};
  }
}

}  // namespace

std::vector<std::string> peer_names(X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, FreeNames> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> result;
  if (!names) return result;
  for (const int kind : {GEN_URI, GEN_DNS, GEN_IPADD}) {
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
      const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
      std::string text = name->type == kind ? text_of(*name) : std::string();
      // A zero byte in a name is an old trick to look like a shorter one.
      if (!text.empty() && text.find('\0') == std::string::npos) result.push_back(std::move(text));
    }
  }
  return result;
}

bool has_name(X509* certificate, const std::string& name) {
  if (name.find("://") != std::string::npos) {
    const std::vector<std::string> names = peer_names(certificate);
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  std::array<unsigned char, 16> ip{};
  if (inet_pton(AF_INET, name.c_str(), ip.data()) == 1 || inet_pton(AF_INET6, name.c_str(), ip.data()) == 1) {
    return X509_check_ip_asc(certificate, name.c_str(), 0) == 1;
  }
  return X509_check_host(certificate, name.data(), name.size(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) == 1;
}

}  // namespace homa::security
