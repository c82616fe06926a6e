#include "security/frame_keys.h"

#include <cstring>
#include <functional>
#include <utility>

#include "base/assert.h"
#include "protocol/train.h"
#include "wire/datagram.h"

namespace homa::security {

FrameKeys::FrameKeys(const KeyMaterial& material, std::uint64_t frames_per_key)
    : kind_(material.kind), frames_per_key_(frames_per_key) {
  HOMA_ASSERT(material.send.size() == secret_size(kind_) && material.receive.size() == secret_size(kind_));
  sending_.secret = material.send;
  receiving_.secret = material.receive;
}

Aead& FrameKeys::ready(Phase& phase, Aead::Use use) const {
  if (!phase.aead) phase.aead = make_aead(kind_, use, phase.secret);
  return *phase.aead;
}

bool FrameKeys::next_phase() {
  // A peer that acknowledges nothing of the present phase may miss the next one: that is its own loss.
  if (sealed_ >= 2 * frames_per_key_ || (sealed_ >= frames_per_key_ && confirmed_)) {
    sending_ = {next_secret(kind_, sending_.secret), nullptr};
    send_phase_ = !send_phase_;
    confirmed_ = false;
    sealed_ = 0;
    first_number_.fill(0);
  }
  return send_phase_;
}

void FrameKeys::seal(const protocol::Train& train, std::byte* out) {
  HOMA_ASSERT(train.lane < first_number_.size());
  Aead& aead = ready(sending_, Aead::Use::seal);
  if (first_number_[train.lane] == 0) first_number_[train.lane] = train.first_number;
  for (std::size_t s = 0; s < train.segment_count; ++s) {
    const protocol::Segment& segment = train.segments[s];
    std::memcpy(out, segment.header.data, segment.header.size);
    aead.seal(train.lane, train.first_number + s, segment.header, &train.pieces[segment.first_piece],
              segment.piece_count, out + segment.header.size);
    out += segment.size;
  }
  sealed_ += train.segment_count;
}

bool FrameKeys::open(const protocol::SealedFrame& frame) {
  if (frame.key_phase == receive_phase_) return ready(receiving_, Aead::Use::open).open(frame);
  if (before_ && ready(*before_, Aead::Use::open).open(frame)) return true;
  if (!next_) next_ = std::make_unique<Phase>(Phase{next_secret(kind_, receiving_.secret), nullptr});
  if (!ready(*next_, Aead::Use::open).open(frame)) return false;
  if (!before_) before_ = std::make_unique<Phase>();
  *before_ = std::move(receiving_);
  receiving_ = std::move(*next_);
  next_.reset();
  receive_phase_ = !receive_phase_;
  return true;
}

void FrameKeys::acknowledged(std::uint8_t lane, std::uint64_t number) {
  if (lane < first_number_.size() && first_number_[lane] != 0 && number >= first_number_[lane]) confirmed_ = true;
}

// Frames of the phase before that come after this are lost; so much later they would be anyway.
void FrameKeys::hibernate() {
  sending_.aead.reset();
  receiving_.aead.reset();
  next_.reset();
  before_.reset();
}

std::size_t FrameKeys::memory_bytes() const {
  std::size_t bytes = sizeof(*this);
  const auto add = [&](const Phase& phase) { bytes += phase.aead ? phase.aead->memory_bytes() : 0; };
  add(sending_);
  add(receiving_);
  for (const auto& phase : {std::cref(next_), std::cref(before_)}) {
    if (!phase.get()) continue;
    bytes += sizeof(Phase);
    add(*phase.get());
  }
  return bytes;
}

}  // namespace homa::security
