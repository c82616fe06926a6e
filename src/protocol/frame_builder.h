// Builds one frame of a train in place: header block in the train's arena, payload pieces by reference.
#pragma once

#include <algorithm>

#include "protocol/association.h"
#include "protocol/core.h"
#include "protocol/train.h"
#include "wire/datagram.h"
#include "wire/native.h"

namespace homa::protocol {

/// Room in the arena that one frame may need for headers besides its DATA: what control packets may fill.
inline constexpr std::size_t kMaxHeaderBlock = 1024;

/// Lives for one frame. Precondition: the train has a segment and kMaxHeaderBlock bytes of arena left.
class Endpoint::Core::FrameBuilder {
 public:
  /// `native`: header of the one native packet to build; null: a datagram frame.
  FrameBuilder(Train& train, std::size_t capacity, const wire::NativeHeader* native)
      : train_(train),
        segment_(train.segments[train.segment_count]),
        capacity_(capacity),
        native_(native),
        fixed_(native == nullptr ? wire::kFrameHeaderSize : 0),
        max_packets_(native == nullptr ? wire::kMaxPacketsPerFrame : 1) {
    start_ = train.header_arena.data() + train.header_bytes;
    block_ = start_ + fixed_;
    segment_.first_piece = static_cast<std::uint16_t>(train.piece_count);
    segment_.piece_count = 0;
  }

  static bool fits(const Train& train) {
    return train.segment_count < kMaxTrainSegments &&
           train.header_bytes + kMaxHeaderBlock <= train.header_arena.size() && train.piece_count < kMaxTrainPieces;
  }

  std::size_t size() const { return fixed_ + block_size_ + payload_size_; }
  /// Bytes that still fit, for headers and payload together.
  std::size_t room() const {
    const std::size_t header_room = kMaxHeaderBlock - fixed_ - block_size_;
    return packets_ >= max_packets_ ? 0 : std::min(header_room, capacity_ - size());
  }
  std::size_t payload_room(std::size_t header_size) const {
    return packets_ >= max_packets_ || capacity_ < size() + header_size ? 0 : capacity_ - size() - header_size;
  }
  bool empty() const { return packets_ == 0; }
  bool eliciting() const { return first_.kind != ContentKind::nothing; }
  const Content& contents() const { return first_; }
  Segment& segment() { return segment_; }
  Train& train() { return train_; }

  /// Precondition: it fits.
  void put(const wire::Packet& packet) {
    std::byte* at = block_ + block_size_;
    grew(native_ == nullptr ? wire::encode_packet(packet, at) : wire::encode_native(*native_, packet, at));
  }
  void put_data(const wire::DataPacket& data) {
    if (native_ == nullptr) {
      grew(wire::encode_data(data, block_ + block_size_));
    } else {
      put(data);
    }
    payload_size_ += data.payload.size;
  }
  void put_ack(const wire::AckPacket& ack) { grew(wire::encode_ack(ack, block_ + block_size_)); }
  void add_payload(std::size_t bytes) { payload_size_ += bytes; }

  /// Remembers what was put, for the time when it is acknowledged or lost. The result is to be filled at once, in
  /// place.
  Content& note(Core& core, ContentKind kind) {
    if (first_.kind == ContentKind::nothing) {
      first_.kind = kind;
      return first_;
    }
    const std::uint32_t index = core.add_content();
    Content& content = core.contents_[index];
    content = {kind};
    content.next = first_.next;
    first_.next = index;
    return content;
  }
  Content& note(Core& core, ContentKind kind, const Rpc& rpc) {
    Content& content = note(core, kind);
    content.rpc_index = rpc.slab_index;
    content.rpc_generation = rpc.slab_generation;
    content.rpc_id = rpc.id.value;
    return content;
  }

  void finish(const wire::FrameHeader& header) {
    if (native_ == nullptr) wire::encode_frame_header(header, block_size_, start_);
    segment_.header = {start_, fixed_ + block_size_};
    segment_.size = static_cast<std::uint16_t>(size());
    train_.header_bytes += segment_.header.size;
    train_.total_bytes += size();
    ++train_.segment_count;
  }

 private:
  void grew(std::size_t bytes) {
    block_size_ += bytes;
    ++packets_;
  }
  Train& train_;
  Segment& segment_;
  std::size_t capacity_;
  const wire::NativeHeader* native_;
  std::size_t fixed_;
  std::size_t max_packets_;
  std::byte* start_;
  std::byte* block_;
  std::size_t block_size_ = 0;
  std::size_t payload_size_ = 0;
  std::size_t packets_ = 0;
  Content first_;
};

}  // namespace homa::protocol
