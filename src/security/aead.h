// One key of an AEAD (RFC 5116), ready to seal or to open frames. Holds some kilobytes: made when needed.
//
// Threads: one at a time. Nothing is allocated after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "protocol/protection.h"
#include "security/key_schedule.h"

struct evp_cipher_ctx_st;

namespace homa::security {

class Aead {
 public:
  enum class Use : std::uint8_t { seal, open };
  /// Derives the key of this phase from its secret.
  Aead(AeadKind kind, Use use, const SecretBytes& secret);

  /// Encrypts the pieces one after the other to `out`, then writes the tag: their sizes together + kSealTagSize bytes.
  void seal(std::uint8_t lane, std::uint64_t number, ByteView associated, const ByteView* pieces,
            std::size_t piece_count, std::byte* out);
  /// False: the tag does not fit, and the pieces hold nothing of use.
  [[nodiscard]] bool open(const protocol::SealedFrame& frame);

 private:
  struct FreeContext {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  std::unique_ptr<evp_cipher_ctx_st, FreeContext> context_;  // holds the key, and wipes it
  Nonce iv_;
};

}  // namespace homa::security
