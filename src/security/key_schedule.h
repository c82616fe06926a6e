// From the secret of one direction to the key and initialization vector of one key phase, and to the next phase
// (docs/wire.md section 6).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace homa::security {

enum class AeadKind : std::uint8_t { aes_128_gcm, aes_256_gcm, chacha20_poly1305 };

/// Bytes that are wiped when they go.
class SecretBytes {
 public:
  static constexpr std::size_t kMaxSize = 48;
  SecretBytes() = default;
  SecretBytes(const std::uint8_t* data, std::size_t size);
  SecretBytes(const SecretBytes&) = default;
  SecretBytes& operator=(const SecretBytes&) = default;
  ~SecretBytes();

  const std::uint8_t* data() const { return bytes_.data(); }
  std::uint8_t* data() { return bytes_.data(); }
  std::size_t size() const { return size_; }
  void resize(std::size_t size);

 private:
  std::array<std::uint8_t, kMaxSize> bytes_{};
  std::uint8_t size_ = 0;
};

/// 12 bytes (RFC 5116).
using Nonce = std::array<std::uint8_t, 12>;

struct PhaseKey {
  SecretBytes key;  ///< 16 bytes, or 32
  Nonce iv{};
};

/// Bytes of a secret: 48 with AES-256-GCM, whose hash is SHA-384; else 32, SHA-256 (the hashes of RFC 8446's suites).
std::size_t secret_size(AeadKind kind);

/// HKDF-Expand-Label of RFC 8446 section 7.1 with an empty context. Precondition: size <= SecretBytes::kMaxSize.
SecretBytes expand_label(AeadKind kind, const SecretBytes& secret, std::string_view label, std::size_t size);

PhaseKey phase_key(AeadKind kind, const SecretBytes& secret);
SecretBytes next_secret(AeadKind kind, const SecretBytes& secret);

/// 3 zero bytes, the lane byte, the number of the frame; XORed with the initialization vector.
Nonce frame_nonce(const Nonce& iv, std::uint8_t lane, std::uint64_t number);

}  // namespace homa::security
