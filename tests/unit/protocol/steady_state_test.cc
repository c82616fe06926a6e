// Steady state allocates nothing. In a binary of its own, since it counts every allocation of the process.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "protocol/endpoint.h"

namespace {
std::uint64_t allocations = 0;
}  // namespace

// GCC sees free() below and not that the matching new is ours too.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size); memory != nullptr) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit); memory != nullptr) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace homa::protocol {
namespace {

/// Hands out the same few blocks again and again.
class Blocks : public BufferSource {
 public:
  Blocks() {
    for (auto& block : memory_) {
      block.resize(kBlock);
      free_.push_back(block.data());
    }
  }
  std::byte* allocate(std::uint64_t length) override {
    if (length > kBlock || free_.empty()) return nullptr;
    std::byte* block = free_.back();
    free_.pop_back();
    return block;
  }
  void release(std::byte* data, std::uint64_t) override { free_.push_back(data); }

 private:
  static constexpr std::size_t kBlock = 1 << 20;
  std::vector<std::byte> memory_[16];
  std::vector<std::byte*> free_;
};

/// A pair that itself allocates nothing: the wire is two preallocated queues without delay.
class TightPair {
 public:
  TightPair() {
    for (std::size_t i = 0; i < 2; ++i) {
      Config config;
      config.incarnation = i + 1;
      endpoints_[i] = std::make_unique<Endpoint>(config, i + 1, blocks_[i]);
      addresses_[i] = {HostAddress::v4(10, 0, 0, static_cast<std::uint8_t>(i + 1)), 1000};
    }
    wire_.resize(kMaxTrainBytes);
    bytes_.resize(1 << 20);
    // One call is never answered: an association with nothing in it would give its memory back between two waves.
    const StartResult parked = endpoints_[0]->start(addresses_[1], {}, {}, now_);
    if (parked.error != StartError::none) std::abort();
    while (!parked_) turn();
  }

  /// Starts calls of `length` bytes, `depth` at a time, until `count` of them have ended.
  void run(int count, std::uint64_t length, int depth, bool one_way) {
    piece_ = {bytes_.data(), length};
    options_.one_way = one_way;
    started_ = ended_ = 0;
    while (ended_ < count) {
      while (started_ < count && started_ - ended_ < depth) {
        const StartResult result = endpoints_[0]->start(addresses_[1], {&piece_, 1, length, 1}, options_, now_);
        if (result.error != StartError::none) std::abort();
        ++started_;
      }
      turn();
    }
  }
  int failed() const { return failed_; }

 private:
  void turn() {
    bool moved = false;
    for (std::size_t i = 0; i < 2; ++i) {
      events(i);
      while (endpoints_[i]->next_transmit(now_, train_)) {
        moved = true;
        flatten(train_, wire_.data());
        std::size_t at = 0;
        for (std::size_t k = 0; k < train_.segment_count; ++k) {
          const Datagram datagram{
              addresses_[i], addresses_[1 - i].host, Ecn::not_ect, {wire_.data() + at, train_.segments[k].size}};
          endpoints_[1 - i]->receive(datagram, arrival_, now_ + 5us);
          at += train_.segments[k].size;
        }
      }
      events(i);
    }
    now_ += 10us;
    if (!moved) {
      const Time next = std::min(endpoints_[0]->next_deadline(), endpoints_[1]->next_deadline());
      if (next != kNever) now_ = std::max(now_, next);
    }
    for (const auto& endpoint : endpoints_) endpoint->advance(now_);
  }
  void events(std::size_t i) {
    Event event;
    while (endpoints_[i]->next_event(event, now_)) {
      if (event.kind == Event::Kind::request) {
        if (parked_) endpoints_[i]->reply(event.request, {&piece_, 1, piece_.size, 2}, now_);
        parked_ = true;
      }
      if (event.kind == Event::Kind::call_finished) {
        ++ended_;
        failed_ += event.status == CallStatus::ok ? 0 : 1;
      }
      endpoints_[i]->release_message(event.message, now_);
    }
  }

  Blocks blocks_[2];
  std::unique_ptr<Endpoint> endpoints_[2];
  Address addresses_[2];
  Time now_{1s};
  std::vector<std::byte> wire_;
  std::vector<std::byte> bytes_;
  ByteView piece_;
  CallOptions options_;
  int started_ = 0;
  int ended_ = 0;
  int failed_ = 0;
  bool parked_ = false;
  Train train_;
  Arrival arrival_;
};

TEST(SteadyState, SmallEchoesAllocateNothing) {
  TightPair pair;
  pair.run(2000, 100, 4, false);
  const std::uint64_t before = allocations;
  pair.run(10'000, 100, 4, false);
  const std::uint64_t during = allocations - before;
  EXPECT_EQ(during, 0U);
  EXPECT_EQ(pair.failed(), 0);
}

TEST(SteadyState, AStreamOfLongMessagesAllocatesNothing) {
  TightPair pair;
  pair.run(50, 1 << 20, 2, true);
  const std::uint64_t before = allocations;
  pair.run(50, 1 << 20, 2, true);
  const std::uint64_t during = allocations - before;
  EXPECT_EQ(during, 0U);
  EXPECT_EQ(pair.failed(), 0);
}

}  // namespace
}  // namespace homa::protocol
