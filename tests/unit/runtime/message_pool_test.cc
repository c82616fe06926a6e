#include "runtime/message_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace homa::runtime {
namespace {

TEST(MessagePool, GivesAlignedWritableMemoryOfEverySize) {
  MessagePool pool;
  for (const std::uint64_t length : {1ull, 63ull, 64ull, 65ull, 1452ull, 65535ull, 65536ull, 65537ull, 10'000'000ull}) {
    std::byte* data = pool.allocate(length);
    ASSERT_NE(data, nullptr) << length;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0u);
    std::memset(data, 0x5a, length);
    pool.release(data, length);
  }
}

TEST(MessagePool, LiveMessagesDoNotOverlap) {
  MessagePool pool;
  std::vector<std::pair<std::byte*, std::uint64_t>> live;
  for (std::uint64_t i = 0; i < 5000; ++i) live.emplace_back(pool.allocate(1 + i % 300), 1 + i % 300);
  std::sort(live.begin(), live.end());
  for (std::size_t i = 1; i < live.size(); ++i) EXPECT_GE(live[i].first, live[i - 1].first + live[i - 1].second);
  for (auto& [data, length] : live) pool.release(data, length);
}

TEST(MessagePool, SteadyStateAsksTheSystemForNothing) {
  MessagePool pool;
  const auto round = [&] {
    std::vector<std::pair<std::byte*, std::uint64_t>> live;
    for (std::uint64_t length = 1; length <= 2'000'000; length = length * 3 + 1)
      live.emplace_back(pool.allocate(length), length);
    for (auto& [data, length] : live) pool.release(data, length);
  };
  round();
  const std::uint64_t reserved = pool.reserved_bytes();
  for (int i = 0; i < 100; ++i) round();
  EXPECT_EQ(pool.reserved_bytes(), reserved);
}

TEST(MessagePool, UnusedLargeMemoryGoesBackToTheSystem) {
  MessagePool pool;
  std::vector<std::byte*> live;
  constexpr std::uint64_t kLength = 8 << 20;
  for (int i = 0; i < 40; ++i) {
    live.push_back(pool.allocate(kLength));
    ASSERT_NE(live.back(), nullptr);
  }
  EXPECT_GE(pool.reserved_bytes(), 40 * kLength);
  for (std::byte* data : live) pool.release(data, kLength);
  EXPECT_LE(pool.reserved_bytes(), MessagePool::kMaxWarmBytes + 64 * 64);
}

TEST(MessagePool, AnImpossibleLengthGivesNullAndNoHarm) {
  MessagePool pool;
  EXPECT_EQ(pool.allocate(std::uint64_t{1} << 62), nullptr);
  EXPECT_EQ(pool.allocate(~std::uint64_t{0}), nullptr);
  EXPECT_NE(pool.allocate(10), nullptr);
}

TEST(MessagePool, CollectsWhatOtherThreadsReturn) {
  MessagePool pool;
  constexpr int kThreads = 4;
  constexpr int kEach = 1000;
  std::vector<std::vector<std::byte*>> shares(kThreads);
  for (auto& share : shares) {
    for (int i = 0; i < kEach; ++i) share.push_back(pool.allocate(static_cast<std::uint64_t>(1 + i)));
  }
  std::vector<std::thread> threads;
  for (auto& share : shares) {
    threads.emplace_back([&pool, &share] {
      for (std::byte* data : share) pool.push_returned(data);
    });
  }
  int collected = 0;
  std::uint64_t bytes = 0;
  while (collected < kThreads * kEach) {
    pool.collect_returned([&](std::byte* data, std::uint64_t length) {
      ++collected;
      bytes += length;
      pool.release(data, length);
    });
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(pool.has_returned());
  EXPECT_EQ(bytes, std::uint64_t{kThreads} * kEach * (kEach + 1) / 2);
}

}  // namespace
}  // namespace homa::runtime
