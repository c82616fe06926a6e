#include "security/tls_faults.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>

namespace homa::security {
namespace {

using protocol::SecurityFault;

SecurityFault fault_of_certificate(long code) {
  switch (code) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return SecurityFault::expired;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return SecurityFault::not_yet_valid;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return SecurityFault::unknown_authority;
    default:
      return SecurityFault::bad_certificate;
  }
}

// Alerts (RFC 8446 section 6.2) that a peer sends; OpenSSL adds 1000 to their numbers.
SecurityFault fault_of_alert(int alert, bool with_psk) {
  switch (alert) {
    case SSL_AD_UNKNOWN_CA:
      return SecurityFault::unknown_authority;
    case SSL_AD_CERTIFICATE_EXPIRED:
      return SecurityFault::expired;
    case SSL_AD_CERTIFICATE_REQUIRED:
      return SecurityFault::no_certificate;
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
      return SecurityFault::bad_certificate;
    case SSL_AD_ACCESS_DENIED:
      return SecurityFault::not_allowed;
    case SSL_AD_UNKNOWN_PSK_IDENTITY:
    case SSL_AD_DECRYPT_ERROR:
      return SecurityFault::wrong_key;
    case SSL_AD_ILLEGAL_PARAMETER:
      return with_psk ? SecurityFault::wrong_key : SecurityFault::protocol;
    case SSL_AD_HANDSHAKE_FAILURE:
      return with_psk ? SecurityFault::wrong_key : SecurityFault::nothing_in_common;
    case SSL_AD_PROTOCOL_VERSION:
    case SSL_AD_NO_APPLICATION_PROTOCOL:
      return SecurityFault::nothing_in_common;
    default:
      return SecurityFault::protocol;
  }
}

SecurityFault fault_of_reason(int reason) {
  switch (reason) {
    case SSL_R_BINDER_DOES_NOT_VERIFY:
    case SSL_R_BAD_PSK:
      return SecurityFault::wrong_key;
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return SecurityFault::no_certificate;
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_APPLICATION_PROTOCOL:
    case SSL_R_UNSUPPORTED_PROTOCOL:
      return SecurityFault::nothing_in_common;
    default:
      return SecurityFault::protocol;
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result(text);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return result;
}

TlsFault last_tls_fault(const SSL* ssl, bool with_psk) {
  const unsigned long code = ERR_peek_error();
  const int reason = ERR_GET_REASON(code);
  if (reason > SSL_AD_REASON_OFFSET) {
    const int alert = reason - SSL_AD_REASON_OFFSET;
    const SecurityFault fault = fault_of_alert(alert, with_psk);
    return {fault, std::string(to_string(fault)) + " (alert: " + SSL_alert_desc_string_long(alert) + ")", true};
  }
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    const long verdict = SSL_get_verify_result(ssl);
    const SecurityFault fault = fault_of_certificate(verdict);
    std::string words = X509_verify_cert_error_string(verdict);
    if (fault == SecurityFault::not_yet_valid || fault == SecurityFault::expired) words += " by our clock";
    return {fault, words, false};
  }
  const SecurityFault fault = fault_of_reason(reason);
  const char* const words = ERR_reason_error_string(code);
  return {fault, std::string(to_string(fault)) + (words != nullptr ? std::string(" (") + words + ")" : ""), false};
}

}  // namespace homa::security
