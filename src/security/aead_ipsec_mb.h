#pragma once

#include <memory>

#include "security/aead.h"

namespace homa::security {

/// Built with it, and the processor has AES-NI and PCLMULQDQ.
bool ipsec_mb_runs_here();
/// Precondition: ipsec_mb_runs_here(). One key schedule serves both directions.
std::unique_ptr<Aead> make_ipsec_mb_aead(AeadKind kind, const PhaseKey& key);

}  // namespace homa::security
