#include "testing/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "testing/content.h"

namespace homa::sim {
namespace {
constexpr int kPoison = 0xdb;
constexpr std::uint64_t kGraveyardLimit = 64u << 20;  // then the old dead are forgotten
}  // namespace

CountingBuffers::~CountingBuffers() {
  for (const auto& [data, length] : blocks_) delete[] data;
}

std::byte* CountingBuffers::allocate(std::uint64_t length) {
  if (length == 0) verdict_.fail("buffers", "asked for a buffer of length 0");
  if (refusing_ || in_use_ + length > limit_) {
    ++refusals_;
    return nullptr;
  }
  auto* data = new std::byte[std::max<std::uint64_t>(length, 1)];
  std::memset(data, kPoison, length);
  blocks_[data] = length;
  in_use_ += length;
  peak_ = std::max(peak_, in_use_);
  return data;
}

void CountingBuffers::release(std::byte* data, std::uint64_t length) {
  const auto at = blocks_.find(data);
  if (at == blocks_.end() || at->second != length) {
    return verdict_.fail("buffers", fmt::format("released a buffer of {} bytes that is not in use", length));
  }
  std::memset(data, kPoison, length);
  in_use_ -= length;
  blocks_.erase(at);
  delete[] data;
}

bool CountingBuffers::owns(const std::byte* data, std::uint64_t size) const {
  auto at = blocks_.upper_bound(data);
  if (at == blocks_.begin()) return false;
  --at;
  return data + size <= at->first + at->second;
}

const protocol::Payload& PayloadStore::make(std::uint64_t length, std::uint64_t seed, std::uint64_t head,
                                            bool with_head, std::uint32_t pieces, Rng& rng) {
  const std::uint64_t cookie = next_cookie_++;
  Entry& entry = live_[cookie];
  entry.memory = std::make_unique_for_overwrite<std::byte[]>(length + 1);
  fill_content(seed, entry.memory.get(), length);
  if (with_head && length >= 8) std::memcpy(entry.memory.get(), &head, 8);
  const std::byte* at = entry.memory.get();
  std::uint64_t left = length;
  for (std::uint32_t i = 0; i + 1 < pieces && left > 0; ++i) {
    const std::uint64_t size = rng.below(left + 1);  // empty pieces are legal
    entry.pieces.push_back({at, size});
    at += size;
    left -= size;
  }
  if (length > 0) entry.pieces.push_back({at, left});
  entry.payload = {entry.pieces.data(), static_cast<std::uint32_t>(entry.pieces.size()), length, cookie};
  return entry.payload;
}

void PayloadStore::bury(Entry& entry) {
  const std::uint64_t length = entry.payload.length;
  std::memset(entry.memory.get(), kPoison, length);
  // The array of pieces must not be read any more either: lengths beyond all memory would crash a late reader.
  for (ByteView& piece : entry.pieces) piece = {nullptr, 0};
  if (length == 0) return;
  if (buried_bytes_ > kGraveyardLimit) {
    buried_.clear();
    graveyard_.clear();
    buried_bytes_ = 0;
  }
  buried_[entry.memory.get()] = length;
  buried_bytes_ += length;
  graveyard_.push_back(std::move(entry.memory));
}

void PayloadStore::released(std::uint64_t cookie) {
  const auto at = live_.find(cookie);
  if (at == live_.end()) {
    return verdict_.fail("payload_release", fmt::format("payload {} released twice or never handed over", cookie));
  }
  bury(at->second);
  live_.erase(at);
}

void PayloadStore::discard(std::uint64_t cookie) {
  const auto at = live_.find(cookie);
  if (at == live_.end()) return;
  bury(at->second);
  live_.erase(at);
}

void PayloadStore::forget_all() {
  for (auto& [cookie, entry] : live_) bury(entry);
  live_.clear();
}

void PayloadStore::check_readable(const ByteView& piece) {
  auto at = buried_.upper_bound(piece.data);
  if (at == buried_.begin()) return;
  --at;
  if (piece.data < at->first + at->second) {
    verdict_.fail("payload_read_after_release", fmt::format("{} bytes sent from memory given back", piece.size));
  }
}

}  // namespace homa::sim
