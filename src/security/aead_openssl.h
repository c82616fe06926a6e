#pragma once

#include <memory>

#include "security/aead.h"

namespace homa::security {

std::unique_ptr<Aead> make_openssl_aead(AeadKind kind, Aead::Use use, const PhaseKey& key);

}  // namespace homa::security
