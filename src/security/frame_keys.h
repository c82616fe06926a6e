// Keys that seal and open frames: the key schedule of docs/wire.md section 6 and an AEAD.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "protocol/protection.h"

namespace homa::security {

enum class AeadKind : std::uint8_t { aes_128_gcm, aes_256_gcm, chacha20_poly1305 };

/// Secrets of both directions, from the exporter of the handshake. SHA-256 (32 bytes used) except with AES-256-GCM,
/// where it is SHA-384 (48 bytes used). Whoever holds one wipes it.
struct KeyMaterial {
  static constexpr std::size_t kMaxSecret = 48;
  AeadKind kind = AeadKind::aes_128_gcm;
  std::size_t secret_size = 32;
  std::array<std::uint8_t, kMaxSecret> send{};
  std::array<std::uint8_t, kMaxSecret> receive{};
};

/// Frames sealed under one key before the next one is begun: half of the confidentiality limit of AES-GCM
/// (RFC 9001 section 6.6: 2^23).
inline constexpr std::uint64_t kFramesPerKey = std::uint64_t{1} << 22;

std::unique_ptr<protocol::FrameKeys> make_frame_keys(const KeyMaterial& material,
                                                     std::uint64_t frames_per_key = kFramesPerKey);

}  // namespace homa::security
