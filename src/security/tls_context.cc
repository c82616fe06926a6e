#include "security/tls_context.h"

#include <openssl/ssl.h>

#include "base/assert.h"
#include "security/tls_handshake.h"

namespace homa::security {
namespace {

const char* suites(CipherChoice cipher) {
  switch (cipher) {
    case CipherChoice::aes_128_gcm:
      return "TLS_AES_128_GCM_SHA256";
    case CipherChoice::aes_256_gcm:
      return "TLS_AES_256_GCM_SHA384";
    case CipherChoice::chacha20_poly1305:
      return "TLS_CHACHA20_POLY1305_SHA256";
    case CipherChoice::any:
      break;
  }
  return "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
}

int add_parameters(SSL* ssl, unsigned, unsigned, const unsigned char** out, std::size_t* size, X509*, std::size_t, int*,
                   void*) {
  const ByteView parameters = TlsHandshake::of(ssl).parameters();
  *out = reinterpret_cast<const unsigned char*>(parameters.data);
  *size = parameters.size;
  return 1;
}

int parse_parameters(SSL* ssl, unsigned, unsigned, const unsigned char* data, std::size_t size, X509*, std::size_t,
                     int* alert, void*) {
  if (TlsHandshake::of(ssl).take_parameters({reinterpret_cast<const std::byte*>(data), size})) return 1;
  *alert = SSL_AD_DECODE_ERROR;
  return 0;
}

int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, size, kApplicationProtocol, sizeof kApplicationProtocol, offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

int judge_certificate(int fine, X509_STORE_CTX* store) {
  auto* const ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  return fine == 1 && TlsHandshake::of(ssl).judge(store) ? 1 : 0;
}

int use_psk(SSL* ssl, const EVP_MD* digest, const unsigned char** identity, std::size_t* size, SSL_SESSION** session) {
  return TlsHandshake::of(ssl).offer_psk(digest, identity, size, session) ? 1 : 0;
}

int find_psk(SSL* ssl, const unsigned char* identity, std::size_t size, SSL_SESSION** session) {
  return TlsHandshake::of(ssl).find_psk({reinterpret_cast<const char*>(identity), size}, session) ? 1 : 0;
}

}  // namespace

SSL_CTX* make_tls_context(CipherChoice cipher) {
  SSL_CTX* const context = SSL_CTX_new(TLS_method());
  HOMA_ASSERT(context != nullptr);
  HOMA_ASSERT(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
              SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
              SSL_CTX_set_ciphersuites(context, suites(cipher)) == 1 &&
              SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1);
  HOMA_ASSERT(SSL_CTX_set_alpn_protos(context, kApplicationProtocol, sizeof kApplicationProtocol) == 0);  // 0: success
  HOMA_ASSERT(SSL_CTX_add_custom_ext(context, kParametersExtension,
                                     SSL_EXT_CLIENT_HELLO | SSL_EXT_TLS1_3_ENCRYPTED_EXTENSIONS, add_parameters,
                                     nullptr, nullptr, parse_parameters, nullptr) == 1);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, judge_certificate);
  SSL_CTX_set_psk_use_session_callback(context, use_psk);
  SSL_CTX_set_psk_find_session_callback(context, find_psk);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  // A key with a passphrase is an error, not a question to whoever sits at the terminal.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
  return context;
}

}  // namespace homa::security
