#include "security/aead_ipsec_mb.h"

#ifdef HOMA_HAVE_IPSEC_MB
#include <intel-ipsec-mb.h>
#include <openssl/crypto.h>

#include <array>

#include "base/assert.h"
#include "wire/datagram.h"

namespace homa::security {
namespace {

// Only a table of functions for this processor, as we use it: shared by all threads.
IMB_MGR* manager() {
  static IMB_MGR* const instance = [] {
    IMB_MGR* const made = alloc_mb_mgr(0);
    if (made != nullptr) init_mb_mgr_auto(made, nullptr);
    return made;
  }();
  return instance;
}

using Tag = std::array<std::byte, wire::kSealTagSize>;

/// AES in Galois/counter mode. 128 and 256 bits differ in the functions alone.
class GcmAead final : public Aead {
 public:
  GcmAead(AeadKind kind, const PhaseKey& key) : iv_(key.iv) {
    const IMB_MGR& table = *manager();
    if (kind == AeadKind::aes_128_gcm) {
      functions_ = {table.gcm128_init,       table.gcm128_enc_update,   table.gcm128_enc_finalize,
                    table.gcm128_dec_update, table.gcm128_dec_finalize, table.gcm128_enc};
      table.gcm128_pre(key.key.data(), &key_);
    } else {
      functions_ = {table.gcm256_init,       table.gcm256_enc_update,   table.gcm256_enc_finalize,
                    table.gcm256_dec_update, table.gcm256_dec_finalize, table.gcm256_enc};
      table.gcm256_pre(key.key.data(), &key_);
    }
  }
  ~GcmAead() override { OPENSSL_cleanse(&key_, sizeof key_); }

  void seal(std::uint8_t lane, std::uint64_t number, ByteView associated, const ByteView* pieces,
            std::size_t piece_count, std::byte* out) override {
    const Nonce nonce = frame_nonce(iv_, lane, number);
    gcm_context_data context;
    if (piece_count == 1) {  // the common case, and the fastest
      functions_.seal_at_once(&key_, &context, bytes(out), bytes(pieces[0].data), pieces[0].size, nonce.data(),
                              bytes(associated.data), associated.size, bytes(out + pieces[0].size), wire::kSealTagSize);
      return;
    }
    functions_.init(&key_, &context, nonce.data(), bytes(associated.data), associated.size);
    for (std::size_t i = 0; i < piece_count; ++i) {
      if (pieces[i].size == 0) continue;
      functions_.seal(&key_, &context, bytes(out), bytes(pieces[i].data), pieces[i].size);
      out += pieces[i].size;
    }
    functions_.seal_end(&key_, &context, bytes(out), wire::kSealTagSize);
  }

  bool open(const protocol::SealedFrame& frame) override {
    const Nonce nonce = frame_nonce(iv_, frame.lane, frame.number);
    gcm_context_data context;
    functions_.init(&key_, &context, nonce.data(), bytes(frame.authenticated.data), frame.authenticated.size);
    const std::byte* in = frame.ciphertext.data;
    for (std::size_t i = 0; i < frame.piece_count; ++i) {
      const protocol::SealedFrame::Piece& piece = frame.pieces[i];
      if (piece.size == 0) continue;
      functions_.open(&key_, &context, bytes(piece.out), bytes(in), piece.size);
      in += piece.size;
    }
    Tag tag;
    functions_.open_end(&key_, &context, bytes(tag.data()), tag.size());
    return CRYPTO_memcmp(tag.data(), frame.tag, tag.size()) == 0;
  }

  std::size_t memory_bytes() const override { return sizeof(*this); }

  static std::uint8_t* bytes(std::byte* data) { return reinterpret_cast<std::uint8_t*>(data); }
  static const std::uint8_t* bytes(const std::byte* data) { return reinterpret_cast<const std::uint8_t*>(data); }

 private:
  struct Functions {
    aes_gcm_init_t init;
    aes_gcm_enc_dec_update_t seal;
    aes_gcm_enc_dec_finalize_t seal_end;
    aes_gcm_enc_dec_update_t open;
    aes_gcm_enc_dec_finalize_t open_end;
    aes_gcm_enc_dec_t seal_at_once;
  };
  Functions functions_;
  alignas(64) gcm_key_data key_;  // the library loads it with aligned vectors
  const Nonce iv_;
};

class ChaChaAead final : public Aead {
 public:
  explicit ChaChaAead(const PhaseKey& key) : key_(key) {}

  void seal(std::uint8_t lane, std::uint64_t number, ByteView associated, const ByteView* pieces,
            std::size_t piece_count, std::byte* out) override {
    chacha20_poly1305_context_data context = begin(lane, number, associated);
    for (std::size_t i = 0; i < piece_count; ++i) {
      if (pieces[i].size == 0) continue;
      manager()->chacha20_poly1305_enc_update(key_.key.data(), &context, out, pieces[i].data, pieces[i].size);
      out += pieces[i].size;
    }
    manager()->chacha20_poly1305_finalize(&context, out, wire::kSealTagSize);
    OPENSSL_cleanse(&context, sizeof context);
  }

  bool open(const protocol::SealedFrame& frame) override {
    chacha20_poly1305_context_data context = begin(frame.lane, frame.number, frame.authenticated);
    const std::byte* in = frame.ciphertext.data;
    for (std::size_t i = 0; i < frame.piece_count; ++i) {
      const protocol::SealedFrame::Piece& piece = frame.pieces[i];
      if (piece.size == 0) continue;
      manager()->chacha20_poly1305_dec_update(key_.key.data(), &context, piece.out, in, piece.size);
      in += piece.size;
    }
    Tag tag;
    manager()->chacha20_poly1305_finalize(&context, tag.data(), tag.size());
    OPENSSL_cleanse(&context, sizeof context);
    return CRYPTO_memcmp(tag.data(), frame.tag, tag.size()) == 0;
  }

  std::size_t memory_bytes() const override { return sizeof(*this); }

 private:
  chacha20_poly1305_context_data begin(std::uint8_t lane, std::uint64_t number, ByteView associated) const {
    const Nonce nonce = frame_nonce(key_.iv, lane, number);
    chacha20_poly1305_context_data context;
    manager()->chacha20_poly1305_init(key_.key.data(), &context, nonce.data(), associated.data, associated.size);
    return context;
  }
  const PhaseKey key_;
};

}  // namespace

bool ipsec_mb_runs_here() {
  static const bool runs = [] {
    constexpr std::uint64_t needed = IMB_FEATURE_AESNI | IMB_FEATURE_PCLMULQDQ;
    return manager() != nullptr && imb_get_errno(manager()) == 0 && (manager()->features & needed) == needed &&
           (manager()->features & IMB_FEATURE_AESNI_EMU) == 0;
  }();
  return runs;
}

std::unique_ptr<Aead> make_ipsec_mb_aead(AeadKind kind, const PhaseKey& key) {
  if (kind == AeadKind::chacha20_poly1305) return std::make_unique<ChaChaAead>(key);
  return std::make_unique<GcmAead>(kind, key);
}

}  // namespace homa::security

#else

namespace homa::security {

bool ipsec_mb_runs_here() {
  return false;
}
std::unique_ptr<Aead> make_ipsec_mb_aead(AeadKind, const PhaseKey&) {
  return nullptr;
}

}  // namespace homa::security

#endif
