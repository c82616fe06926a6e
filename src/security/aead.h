// One key of an AEAD (RFC 5116), ready to seal or to open frames.
//
// Two engines do the same: OpenSSL, which is always there, and Intel's ipsec-mb, several times faster where the
// processor has vector AES (docs/measurements.md). Threads: one at a time. Nothing is allocated after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "protocol/protection.h"
#include "security/key_schedule.h"

namespace homa::security {

class Aead {
 public:
  enum class Use : std::uint8_t { seal, open };
  virtual ~Aead() = default;
  Aead() = default;
  Aead(const Aead&) = delete;
  Aead& operator=(const Aead&) = delete;

  /// Encrypts the pieces one after the other to `out`, then writes the tag: their sizes together + kSealTagSize bytes.
  virtual void seal(std::uint8_t lane, std::uint64_t number, ByteView associated, const ByteView* pieces,
                    std::size_t piece_count, std::byte* out) = 0;
  /// False: the tag does not fit, and the pieces hold nothing of use.
  [[nodiscard]] virtual bool open(const protocol::SealedFrame& frame) = 0;
  /// With what the engine allocated for it.
  virtual std::size_t memory_bytes() const = 0;
};

enum class AeadEngine : std::uint8_t { openssl, ipsec_mb };
const char* to_string(AeadEngine engine);

/// This build has it and this processor can run it.
bool is_available(AeadEngine engine);
/// The fastest that is available.
AeadEngine best_engine();

/// Derives the key of this phase from its secret. Precondition: is_available(engine).
std::unique_ptr<Aead> make_aead(AeadKind kind, Aead::Use use, const SecretBytes& secret,
                                AeadEngine engine = best_engine());

}  // namespace homa::security
