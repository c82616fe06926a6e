// Memory of a simulated process: what its core allocates for messages, and what it hands over to be sent.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/rng.h"
#include "protocol/endpoint.h"
#include "testing/verdict.h"

namespace homa::sim {

/// A BufferSource that counts, bounds and checks. What is given back is overwritten.
class CountingBuffers final : public protocol::BufferSource {
 public:
  CountingBuffers(Verdict& verdict, std::uint64_t limit) : verdict_(verdict), limit_(limit) {}
  ~CountingBuffers() override;
  std::byte* allocate(std::uint64_t length) override;
  void release(std::byte* data, std::uint64_t length) override;

  /// While set, nothing is given.
  void refuse(bool refusing) { refusing_ = refusing; }
  std::uint64_t in_use() const { return in_use_; }
  std::uint64_t peak() const { return peak_; }
  std::uint64_t blocks() const { return blocks_.size(); }
  std::uint64_t refusals() const { return refusals_; }
  /// Whether all of [data, data + size) lies in one block that is in use.
  bool owns(const std::byte* data, std::uint64_t size) const;

 private:
  Verdict& verdict_;
  std::uint64_t limit_;
  bool refusing_ = false;
  std::uint64_t in_use_ = 0;
  std::uint64_t peak_ = 0;
  std::uint64_t refusals_ = 0;
  std::map<const std::byte*, std::uint64_t> blocks_;  // start -> length
};

/// Payloads handed to a core, until their payload_released events. Released memory is overwritten and kept for a while,
/// so that a late reader is caught: by readable(), and by the receiver, who finds the wrong bytes.
class PayloadStore {
 public:
  explicit PayloadStore(Verdict& verdict) : verdict_(verdict) {}

  /// A payload of `length` bytes of content (content.h), its first 8 replaced by `head` when it has so many and
  /// `with_head`; split into `pieces` parts. Stays valid until released() or discard().
  const protocol::Payload& make(std::uint64_t length, std::uint64_t seed, std::uint64_t head, bool with_head,
                                std::uint32_t pieces, Rng& rng);
  /// The core said that it no longer reads it.
  void released(std::uint64_t cookie);
  /// The core never took it.
  void discard(std::uint64_t cookie);
  /// The process died: nothing will be released.
  void forget_all();
  /// Checks a piece that the core is about to send: it may not lie in memory that was released.
  void check_readable(const ByteView& piece);
  std::uint64_t live() const { return live_.size(); }

 private:
  struct Entry {
    std::unique_ptr<std::byte[]> memory;
    std::vector<ByteView> pieces;
    protocol::Payload payload;
  };
  void bury(Entry& entry);

  Verdict& verdict_;
  std::uint64_t next_cookie_ = 1;
  std::unordered_map<std::uint64_t, Entry> live_;
  std::map<const std::byte*, std::uint64_t> buried_;  // start -> length
  std::vector<std::unique_ptr<std::byte[]>> graveyard_;
  std::uint64_t buried_bytes_ = 0;
};

}  // namespace homa::sim
