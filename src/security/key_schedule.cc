#include "security/key_schedule.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <memory>

#include "base/assert.h"

namespace homa::security {
namespace {

constexpr std::string_view kPrefix = "tls13 ";

struct FreeContext {
  void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};

EVP_KDF* hkdf() {
  static EVP_KDF* const algorithm = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  HOMA_ASSERT(algorithm != nullptr);
  return algorithm;
}

}  // namespace

SecretBytes::SecretBytes(const std::uint8_t* data, std::size_t size) {
  resize(size);
  std::copy_n(data, size, bytes_.begin());
}

SecretBytes::~SecretBytes() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

void SecretBytes::resize(std::size_t size) {
  HOMA_ASSERT(size <= kMaxSize);
  size_ = static_cast<std::uint8_t>(size);
}

std::size_t secret_size(AeadKind kind) {
  return kind == AeadKind::aes_256_gcm ? 48 : 32;
}

SecretBytes expand_label(AeadKind kind, const SecretBytes& secret, std::string_view label, std::size_t size) {
  // struct HkdfLabel: length 2, label with its length 1, context with its length 1.
  std::array<std::uint8_t, 64> info{};
  HOMA_ASSERT(4 + kPrefix.size() + label.size() <= info.size());
  auto* at = info.data();
  *at++ = 0;
  *at++ = static_cast<std::uint8_t>(size);
  *at++ = static_cast<std::uint8_t>(kPrefix.size() + label.size());
  at = std::copy(kPrefix.begin(), kPrefix.end(), at);
  at = std::copy(label.begin(), label.end(), at);
  *at++ = 0;

  char digest_256[] = "SHA256";
  char digest_384[] = "SHA384";
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  SecretBytes copy = secret;  // OSSL_PARAM takes pointers that are not const
  const std::array<OSSL_PARAM, 5> parameters = {
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, kind == AeadKind::aes_256_gcm ? digest_384 : digest_256,
                                       0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, copy.data(), copy.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), static_cast<std::size_t>(at - info.data())),
      OSSL_PARAM_construct_end()};
  const std::unique_ptr<EVP_KDF_CTX, FreeContext> context(EVP_KDF_CTX_new(hkdf()));
  SecretBytes result;
  result.resize(size);
  HOMA_ASSERT(context != nullptr && EVP_KDF_derive(context.get(), result.data(), size, parameters.data()) == 1);
  return result;
}

PhaseKey phase_key(AeadKind kind, const SecretBytes& secret) {
  PhaseKey result;
  result.key = expand_label(kind, secret, "homa key", kind == AeadKind::aes_128_gcm ? 16 : 32);
  const SecretBytes iv = expand_label(kind, secret, "homa iv", result.iv.size());
  std::copy_n(iv.data(), result.iv.size(), result.iv.begin());
  return result;
}

SecretBytes next_secret(AeadKind kind, const SecretBytes& secret) {
  return expand_label(kind, secret, "homa ku", secret_size(kind));
}

Nonce frame_nonce(const Nonce& iv, std::uint8_t lane, std::uint64_t number) {
  Nonce nonce = iv;
  nonce[3] ^= lane;
  for (std::size_t i = 0; i < 8; ++i) nonce[4 + i] ^= static_cast<std::uint8_t>(number >> (56 - 8 * i));
  return nonce;
}

}  // namespace homa::security
