#include "security/aead.h"

#include "base/assert.h"
#include "security/aead_ipsec_mb.h"
#include "security/aead_openssl.h"

namespace homa::security {

const char* to_string(AeadEngine engine) {
  return engine == AeadEngine::ipsec_mb ? "ipsec-mb" : "OpenSSL";
}

bool is_available(AeadEngine engine) {
  return engine == AeadEngine::openssl || ipsec_mb_runs_here();
}

AeadEngine best_engine() {
  return ipsec_mb_runs_here() ? AeadEngine::ipsec_mb : AeadEngine::openssl;
}

std::unique_ptr<Aead> make_aead(AeadKind kind, Aead::Use use, const SecretBytes& secret, AeadEngine engine) {
  HOMA_ASSERT(is_available(engine));
  const PhaseKey key = phase_key(kind, secret);
  return engine == AeadEngine::ipsec_mb ? make_ipsec_mb_aead(kind, key) : make_openssl_aead(kind, use, key);
}

}  // namespace homa::security
