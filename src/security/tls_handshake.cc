#include "security/tls_handshake.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "security/frame_keys.h"
#include "security/peer_names.h"
#include "security/tls_faults.h"

namespace homa::security {
namespace {

using protocol::SecurityFault;

constexpr std::string_view kExporterLabel = "EXPORTER-homa-frame-keys";
constexpr std::size_t kMaxParameters = 256;

/// What OpenSSL 3.0 allocates for one handshake under way, about.
constexpr std::size_t kTlsBytes = 64 * 1024;

// Second bytes of TLS 1.3 cipher suites (RFC 8446 appendix B.4).
constexpr std::uint8_t kSuiteAes256 = 2;
constexpr std::uint8_t kSuiteChaCha20 = 3;

int own_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

AeadKind aead_of(const SSL* ssl) {
  switch (SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(ssl)) & 0xff) {
    case kSuiteAes256:
      return AeadKind::aes_256_gcm;
    case kSuiteChaCha20:
      return AeadKind::chacha20_poly1305;
    default:
      return AeadKind::aes_128_gcm;
  }
}

const char* name_of(AeadKind kind) {
  switch (kind) {
    case AeadKind::aes_256_gcm:
      return "AES-256-GCM";
    case AeadKind::chacha20_poly1305:
      return "ChaCha20-Poly1305";
    case AeadKind::aes_128_gcm:
      break;
  }
  return "AES-128-GCM";
}

std::string joined(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
  return result.empty() ? "no name at all" : result;
}

}  // namespace

void TlsHandshake::FreeTls::operator()(SSL* ssl) const {
  SSL_free(ssl);
}

TlsHandshake::TlsHandshake(std::shared_ptr<const Credentials> credentials, Side side, std::string peer,
                           std::string expected_name, ByteView parameters, std::int64_t wall_clock_zero, Time now)
    : credentials_(std::move(credentials)),
      side_(side),
      peer_(std::move(peer)),
      expected_name_(std::move(expected_name)),
      wall_clock_zero_(wall_clock_zero),
      parameters_(parameters.data, parameters.data + parameters.size),
      ssl_(SSL_new(credentials_->context())),
      in_(BIO_new(BIO_s_mem())),
      out_(BIO_new(BIO_s_mem())) {
  HOMA_ASSERT(ssl_ != nullptr && in_ != nullptr && out_ != nullptr && parameters.size <= kMaxParameters);
  BIO_set_mem_eof_return(in_, -1);  // empty: more may come
  SSL_set_bio(ssl_.get(), in_, out_);
  HOMA_ASSERT(SSL_set_ex_data(ssl_.get(), own_index(), this) == 1);
  X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl_.get()), wall_clock_zero_ + now.time_since_epoch() / 1s);
  if (side == Side::client) {
    SSL_set_connect_state(ssl_.get());
  } else {
    SSL_set_accept_state(ssl_.get());
    // A server that lives by a key asks for no certificate; finish() makes sure that the key was used.
    if (credentials_->uses_psk()) SSL_set_verify(ssl_.get(), SSL_VERIFY_NONE, nullptr);
  }
}

TlsHandshake::~TlsHandshake() = default;

TlsHandshake& TlsHandshake::of(const SSL* ssl) {
  return *static_cast<TlsHandshake*>(SSL_get_ex_data(ssl, own_index()));
}

std::size_t TlsHandshake::memory_bytes() const {
  return sizeof(*this) + kTlsBytes;
}

protocol::Handshake::State TlsHandshake::advance(ByteView in, Time now, std::vector<std::byte>& out) {
  if (state_ == State::failed) return state_;
  received_ += in.size;
  if (received_ > kMaxHandshakeBytes) return fail(SecurityFault::protocol, "it sends a handshake without end");
  X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl_.get()), wall_clock_zero_ + now.time_since_epoch() / 1s);
  if (in.size > 0) HOMA_ASSERT(BIO_write(in_, in.data, static_cast<int>(in.size)) == static_cast<int>(in.size));

  ERR_clear_error();
  int result = 1;
  if (state_ == State::running) {
    result = SSL_do_handshake(ssl_.get());
    if (result == 1) finish();
  }
  // After the end a client still learns by this that the server refuses it (RFC 8446 section 4.4.2.4).
  if (result == 1 && state_ == State::complete) {
    char data = 0;
    result = SSL_read(ssl_.get(), &data, 1);
    if (result > 0) fail(SecurityFault::protocol, "it sends data inside of the handshake");
  }
  if (result <= 0 && state_ != State::failed && SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_READ) {
    fail_as_reported();
  }
  ERR_clear_error();

  char* data = nullptr;
  const long size = BIO_get_mem_data(out_, &data);
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
  HOMA_ASSERT(BIO_reset(out_) == 1);
  return state_;
}

protocol::Handshake::State TlsHandshake::finish() {
  if (peer_parameters_.empty()) return fail(SecurityFault::protocol, "its handshake is not one of Homa");
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
  if (size == 0) return fail(SecurityFault::nothing_in_common, "it names no application protocol");

  if (credentials_->uses_psk() && SSL_session_reused(ssl_.get()) != 1) {
    return fail(SecurityFault::wrong_key, "it did not use the pre-shared key");
  }

  KeyMaterial material;
  material.kind = aead_of(ssl_.get());
  const std::size_t half = secret_size(material.kind);
  std::array<std::uint8_t, 2 * SecretBytes::kMaxSize> secrets{};
  HOMA_ASSERT(SSL_export_keying_material(ssl_.get(), secrets.data(), 2 * half, kExporterLabel.data(),
                                         kExporterLabel.size(), nullptr, 0, 0) == 1);
  const bool client = side_ == Side::client;
  material.send = SecretBytes(secrets.data() + (client ? 0 : half), half);
  material.receive = SecretBytes(secrets.data() + (client ? half : 0), half);
  OPENSSL_cleanse(secrets.data(), secrets.size());
  keys_ = std::make_unique<FrameKeys>(material);

  auto identity = std::make_shared<protocol::PeerIdentity>();
  if (credentials_->uses_psk()) {
    identity->names = {"psk:" + credentials_->psk_identity()};
  } else {
    identity->names = peer_names(SSL_get0_peer_certificate(ssl_.get()));
  }
  identity->cipher = name_of(material.kind);
  identity_ = std::move(identity);
  return state_ = State::complete;
}

std::unique_ptr<protocol::FrameKeys> TlsHandshake::take_keys() {
  HOMA_ASSERT(state_ == State::complete && keys_ != nullptr);
  return std::move(keys_);
}

protocol::Handshake::State TlsHandshake::fail(SecurityFault fault, std::string explanation) {
  fault_ = fault;
  explanation_ = "we refuse " + peer_ + ": " + std::move(explanation);
  keys_.reset();
  return state_ = State::failed;
}

protocol::Handshake::State TlsHandshake::fail_as_reported() {
  if (judged_ != SecurityFault::none) return fail(judged_, explanation_);
  const TlsFault reported = last_tls_fault(ssl_.get(), credentials_->uses_psk());
  fail(reported.fault, reported.words);
  if (reported.by_peer) explanation_ = peer_ + " refuses us: " + reported.words;
  return state_;
}

bool TlsHandshake::take_parameters(ByteView parameters) {
  if (parameters.size == 0 || parameters.size > kMaxParameters) return false;
  peer_parameters_.assign(parameters.data, parameters.data + parameters.size);
  return true;
}

// Called for each certificate of a chain that holds, ours last.
bool TlsHandshake::judge(X509_STORE_CTX* store) {
  if (X509_STORE_CTX_get_error_depth(store) != 0) return true;
  X509* const certificate = X509_STORE_CTX_get_current_cert(store);
  const auto refuse = [&](SecurityFault fault, std::string words, int code) {
    judged_ = fault;
    explanation_ = std::move(words);
    X509_STORE_CTX_set_error(store, code);
    return false;
  };
  const std::vector<std::string> names = peer_names(certificate);
  if (side_ == Side::client && !has_name(certificate, expected_name_)) {
    return refuse(SecurityFault::name_mismatch,
                  "its certificate is for " + joined(names) + ", not for " + expected_name_,
                  X509_V_ERR_HOSTNAME_MISMATCH);
  }
  const AllowList& allowed = credentials_->allowed();
  const auto is_allowed = [&](const std::string& name) {
    return std::find(allowed.begin(), allowed.end(), name) != allowed.end();
  };
  if (!allowed.empty() && std::none_of(names.begin(), names.end(), is_allowed)) {
    return refuse(SecurityFault::not_allowed, joined(names) + ": none of these names is on our allow-list",
                  X509_V_ERR_CERT_REJECTED);
  }
  return true;
}

// The hash of a pre-shared key is fixed beforehand (RFC 8446 section 4.2.11): that of the first suite in use here.
SSL_SESSION* TlsHandshake::psk_session() const {
  const SSL_CIPHER* const cipher = sk_SSL_CIPHER_value(SSL_get_ciphers(ssl_.get()), 0);
  SSL_SESSION* const session = SSL_SESSION_new();
  const auto& key = credentials_->psk();
  HOMA_ASSERT(
      session != nullptr && cipher != nullptr && SSL_SESSION_set1_master_key(session, key.data(), key.size()) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1);
  return session;
}

bool TlsHandshake::offer_psk(const EVP_MD* digest, const unsigned char** identity, std::size_t* size,
                             SSL_SESSION** session) {
  *session = nullptr;
  if (!credentials_->uses_psk()) return true;
  SSL_SESSION* const made = psk_session();
  if (digest != nullptr && digest != SSL_CIPHER_get_handshake_digest(SSL_SESSION_get0_cipher(made))) {
    SSL_SESSION_free(made);  // the server asked for another hash: it has no use for our key
    return true;
  }
  const std::string& name = credentials_->psk_identity();
  *identity = reinterpret_cast<const unsigned char*>(name.data());
  *size = name.size();
  *session = made;
  return true;
}

bool TlsHandshake::find_psk(std::string_view identity, SSL_SESSION** session) {
  *session = nullptr;
  if (!credentials_->uses_psk()) return true;  // certificates it is
  if (identity != credentials_->psk_identity()) {
    judged_ = SecurityFault::wrong_key;
    explanation_ =
        "its pre-shared key is called '" + printable(identity) + "', ours '" + credentials_->psk_identity() + "'";
    return true;
  }
  *session = psk_session();
  return true;
}

}  // namespace homa::security
