// Addresses without memory: messages of simulated hosts have a length and a place, and nobody reads or writes them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/bytes.h"
#include "protocol/endpoint.h"

namespace homa::simulation {

/// Reserves a range as long as the longest message and gives all messages the same one. Whoever touches it faults.
class PayloadSpace final : public protocol::BufferSource {
 public:
  explicit PayloadSpace(std::uint64_t longest) : longest_(longest) {
    void* base = mmap(nullptr, longest, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    HOMA_ASSERT(base != MAP_FAILED);
    base_ = static_cast<std::byte*>(base);
  }
  ~PayloadSpace() override { munmap(base_, longest_); }
  PayloadSpace(const PayloadSpace&) = delete;
  PayloadSpace& operator=(const PayloadSpace&) = delete;

  std::byte* base() const { return base_; }
  std::byte* allocate(std::uint64_t length) override { return length <= longest_ ? base_ : nullptr; }
  void release(std::byte*, std::uint64_t) override {}

 private:
  std::byte* base_ = nullptr;
  const std::uint64_t longest_;
};

}  // namespace homa::simulation
