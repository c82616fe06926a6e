// The keys of one association: which phase seals, which phases still open, and when the next one begins
// (docs/wire.md section 6).
//
// Each direction updates by itself. A sender begins the next phase after enough frames, once the peer has acknowledged
// one of the present phase. A receiver knows the next phase by a frame that opens with it, and keeps the one before for
// frames that lower priorities held up.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "protocol/protection.h"
#include "security/aead.h"
#include "security/key_schedule.h"

namespace homa::security {

/// Secrets of both directions, from the exporter of the handshake; secret_size(kind) bytes each.
struct KeyMaterial {
  AeadKind kind = AeadKind::aes_128_gcm;
  SecretBytes send;
  SecretBytes receive;
};

/// Frames sealed under one key before the next one is begun: half of the confidentiality limit of AES-GCM
/// (RFC 9001 section 6.6: 2^23). At that limit it is begun in any case.
inline constexpr std::uint64_t kFramesPerKey = std::uint64_t{1} << 22;

class FrameKeys final : public protocol::FrameKeys {
 public:
  explicit FrameKeys(const KeyMaterial& material, std::uint64_t frames_per_key = kFramesPerKey);

  bool next_phase() override;
  void seal(const protocol::Train& train, std::byte* out) override;
  [[nodiscard]] bool open(const protocol::SealedFrame& frame) override;
  void acknowledged(std::uint8_t lane, std::uint64_t number) override;
  void hibernate() override;
  std::size_t memory_bytes() const override;

 private:
  struct Phase {
    SecretBytes secret;
    std::unique_ptr<Aead> aead;  // null until used
  };
  Aead& ready(Phase& phase, Aead::Use use) const;

  const AeadKind kind_;
  const std::uint64_t frames_per_key_;

  Phase sending_;
  bool send_phase_ = false;
  bool confirmed_ = false;  // the peer has acknowledged a frame of the present phase
  std::uint64_t sealed_ = 0;
  std::array<std::uint64_t, kPriorityLevels> first_number_{};  // of the present phase, by lane; 0: none yet

  Phase receiving_;
  bool receive_phase_ = false;
  std::unique_ptr<Phase> next_;    // derived when a frame of the other phase comes first
  std::unique_ptr<Phase> before_;  // late frames
};

}  // namespace homa::security
