// In steady state the core allocates nothing: operator new is counted while calls go on.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "protocol/endpoint.h"

namespace {
std::uint64_t allocations = 0;
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
  return operator new(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace homa::protocol {
namespace {

/// A fixed number of equal buffers, taken and given back without the allocator.
class FixedBuffers final : public BufferSource {
 public:
  FixedBuffers() {
    for (auto& block : blocks_) free_[free_count_++] = block.get();
  }
  std::byte* allocate(std::uint64_t length) override {
    return length > kSize || free_count_ == 0 ? nullptr : free_[--free_count_];
  }
  void release(std::byte* data, std::uint64_t) override { free_[free_count_++] = data; }

 private:
  static constexpr std::size_t kSize = 1 << 20;
  static constexpr std::size_t kCount = 64;
  std::array<std::unique_ptr<std::byte[]>, kCount> blocks_ = [] {
    std::array<std::unique_ptr<std::byte[]>, kCount> made;
    for (auto& block : made) block = std::make_unique<std::byte[]>(kSize);
    return made;
  }();
  std::array<std::byte*, kCount> free_{};
  std::size_t free_count_ = 0;
};

/// Two endpoints back to back: what one sends, the other receives 5 us later.
class Pair {
 public:
  Pair() {
    Config config;
    config.max_message_length = 1 << 20;
    config.receive_memory = 64 << 20;
    for (int i = 0; i < 2; ++i) {
      config.incarnation = 100 + static_cast<std::uint64_t>(i);
      ends_[i] = std::make_unique<Endpoint>(config, 7 + static_cast<std::uint64_t>(i), buffers_[i]);
    }
    piece_ = {bytes_.data(), bytes_.size()};
  }

  void start(std::uint64_t length, bool one_way) {
    piece_.size = length;
    pieces_[next_piece_ % pieces_.size()] = {bytes_.data(), length};
    const Payload payload{&pieces_[next_piece_++ % pieces_.size()], 1, length, 0};
    CallOptions options;
    options.one_way = one_way;
    if (ends_[0]->start(address(1), payload, options, now_).error == StartError::none) ++open_;
  }

  bool run_until_done() {
    for (int turn = 0; turn < 1'000'000 && open_ > 0; ++turn) {
      now_ += 5us;
      for (int i = 0; i < 2; ++i) turn_of(i);
      bool moved = false;
      for (int i = 0; i < 2; ++i) moved = transmit(i) || moved;
      if (moved) continue;
      const Time next = std::min(ends_[0]->next_deadline(), ends_[1]->next_deadline());
      if (next != kNever && next > now_) now_ = next;
    }
    return open_ == 0;
  }

 private:
  static Address address(int i) { return {HostAddress::v4(10, 0, 0, static_cast<std::uint8_t>(i + 1)), 7000}; }

  void turn_of(int i) {
    ends_[i]->advance(now_);
    Event event;
    while (ends_[i]->next_event(event, now_)) {
      if (event.message.data != nullptr) ends_[i]->release_message(event.message, now_);
      if (event.kind == Event::Kind::call_finished) --open_;
      if (event.kind == Event::Kind::request) {
        pieces_[next_piece_ % pieces_.size()] = {bytes_.data(), 2000};
        (void)ends_[i]->reply(event.request, {&pieces_[next_piece_++ % pieces_.size()], 1, 2000, 0}, now_);
      }
    }
  }

  bool transmit(int i) {
    bool moved = false;
    for (int trains = 0; trains < 4 && ends_[i]->next_transmit(now_, *train_); ++trains) {
      moved = true;
      flatten(*train_, flat_.data());
      std::size_t at = 0;
      for (std::size_t s = 0; s < train_->segment_count; ++s) {
        const Datagram datagram{
            address(i), address(1 - i).host, Ecn::not_ect, {flat_.data() + at, train_->segments[s].size}};
        ends_[1 - i]->receive(datagram, *arrival_, now_);
        at += train_->segments[s].size;
      }
    }
    return moved;
  }

  Time now_{};
  FixedBuffers buffers_[2];
  std::unique_ptr<Endpoint> ends_[2];
  std::unique_ptr<Train> train_ = std::make_unique<Train>();
  std::unique_ptr<Arrival> arrival_ = std::make_unique<Arrival>();
  std::vector<std::byte> bytes_ = std::vector<std::byte>(1 << 20);
  std::vector<std::byte> flat_ = std::vector<std::byte>(kMaxTrainBytes + 9000);
  std::array<ByteView, 1024> pieces_{};
  std::size_t next_piece_ = 0;
  ByteView piece_;
  int open_ = 0;
};

TEST(Allocation, NoneInSteadyState) {
  Pair pair;
  const auto round = [&] {
    for (int i = 0; i < 20; ++i) {
      pair.start(100, false);
      pair.start(3000, true);
    }
    pair.start(200'000, false);
    pair.start(700'000, true);
    return pair.run_until_done();
  };
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(round());
  const std::uint64_t before = allocations;
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(round());
  EXPECT_EQ(allocations - before, 0u);
}

}  // namespace
}  // namespace homa::protocol
