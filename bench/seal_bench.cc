// Sealing and opening frames: both engines, each cipher, beside the bare copy that sealing replaces.
// `./dev bench --benchmark_filter=seal`
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "security/aead.h"
#include "wire/datagram.h"

namespace homa::security {
namespace {

constexpr std::size_t kFrames = 44;  // a train of 63 kB
constexpr std::size_t kHeader = wire::kFrameHeaderSize + wire::kDataHeaderSize;

struct Train {
  explicit Train(std::size_t payload) : size(payload), stride(kHeader + payload + wire::kSealTagSize) {
    clear.resize(kFrames * payload, std::byte{5});
    sealed.resize(kFrames * stride);
  }
  std::size_t size;
  std::size_t stride;
  std::vector<std::byte> clear;
  std::vector<std::byte> sealed;

  std::byte* frame(std::size_t i) { return sealed.data() + i * stride; }
  ByteView piece(std::size_t i) const { return {clear.data() + i * size, size}; }
  void seal(Aead& aead) {
    for (std::size_t i = 0; i < kFrames; ++i) {
      const ByteView payload = piece(i);
      aead.seal(0, i + 1, {frame(i), kHeader}, &payload, 1, frame(i) + kHeader);
    }
  }
};

std::unique_ptr<Aead> make(benchmark::State& state, Aead::Use use) {
  const auto engine = static_cast<AeadEngine>(state.range(0));
  if (!is_available(engine)) {
    state.SkipWithError("this engine is not available here");
    return nullptr;
  }
  const auto kind = static_cast<AeadKind>(state.range(1));
  SecretBytes secret;
  secret.resize(secret_size(kind));
  return make_aead(kind, use, secret, engine);
}

void count(benchmark::State& state, const Train& train) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kFrames * train.size));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kFrames));
}

void copy(benchmark::State& state) {
  Train train(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (std::size_t i = 0; i < kFrames; ++i) std::memcpy(train.frame(i) + kHeader, train.piece(i).data, train.size);
    benchmark::ClobberMemory();
  }
  count(state, train);
}
BENCHMARK(copy)->Arg(1418)->Arg(100);

void seal(benchmark::State& state) {
  Train train(static_cast<std::size_t>(state.range(2)));
  const auto aead = make(state, Aead::Use::seal);
  for (auto _ : state) train.seal(*aead);
  count(state, train);
}

void open(benchmark::State& state) {
  Train train(static_cast<std::size_t>(state.range(2)));
  const auto sealer = make(state, Aead::Use::seal);
  const auto opener = make(state, Aead::Use::open);
  if (sealer) train.seal(*sealer);
  for (auto _ : state) {
    for (std::size_t i = 0; i < kFrames; ++i) {
      const protocol::SealedFrame::Piece piece{train.clear.data() + i * train.size, train.size};
      protocol::SealedFrame frame;
      frame.number = i + 1;
      frame.authenticated = {train.frame(i), kHeader};
      frame.ciphertext = {train.frame(i) + kHeader, train.size};
      frame.tag = train.frame(i) + kHeader + train.size;
      frame.pieces = &piece;
      frame.piece_count = 1;
      if (!opener->open(frame)) state.SkipWithError("a frame did not open");
    }
  }
  count(state, train);
}

void engines_and_kinds(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"ipsec_mb", "cipher", "bytes"});
  bench->ArgsProduct({{0, 1}, {0, 1, 2}, {1418, 100}});
}
BENCHMARK(seal)->Apply(engines_and_kinds);
BENCHMARK(open)->Apply(engines_and_kinds);

}  // namespace
}  // namespace homa::security
