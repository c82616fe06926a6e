// Cost per packet of core and codec together: two endpoints back to back, no socket, no copy of payload.
//
// The payload of a datagram is never read by the core or the codec, so only headers are put into the buffers here; what
// is timed is protocol work alone, of both ends. Time is virtual and follows the bytes at 100 Gbit/s.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "protocol/endpoint.h"

namespace {

using namespace homa;  // NOLINT(google-build-using-namespace): a benchmark of this namespace

constexpr std::uint16_t kDatagram = 1452;  // MTU 1500 over IPv6

/// Buffers of one size, reused: the benchmark is not about malloc.
class Pool : public protocol::BufferSource {
 public:
  std::byte* allocate(std::uint64_t length) override {
    if (free_.empty()) {
      owned_.push_back(std::make_unique<std::byte[]>(kLargest));
      free_.push_back(owned_.back().get());
    }
    if (length > kLargest) return nullptr;
    std::byte* buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  void release(std::byte* data, std::uint64_t) override { free_.push_back(data); }

 private:
  static constexpr std::uint64_t kLargest = 1 << 20;
  std::vector<std::unique_ptr<std::byte[]>> owned_;
  std::vector<std::byte*> free_;
};

protocol::Config config_of(std::uint64_t incarnation) {
  protocol::Config config;
  config.incarnation = incarnation;
  config.initial_datagram = kDatagram;
  config.max_datagram = kDatagram;
  config.uplink = Rate::gigabits_per_second(100);
  config.downlink = Rate::gigabits_per_second(100);
  return config;
}

class BackToBack {
 public:
  BackToBack()
      : client_(config_of(1), 1, client_buffers_),
        server_(config_of(2), 2, server_buffers_),
        train_(std::make_unique<protocol::Train>()),
        arrival_(std::make_unique<protocol::Arrival>()) {}

  /// One call of `length` bytes with an 8-byte response. False when it failed.
  bool call(std::uint64_t length) {
    const ByteView piece{request_.data(), static_cast<std::size_t>(length)};
    finished_ = false;
    succeeded_ = false;
    if (client_.start(kServer, {&piece, 1, length, 1}, {}, now_).error != protocol::StartError::none) return false;
    for (int idle = 0; !finished_;) {
      const bool moved = pump(client_, kClient, server_) | pump(server_, kServer, client_);
      serve();
      finish();
      if (moved) {
        idle = 0;
      } else if (++idle > 1000 || !skip_to_deadline()) {
        return false;
      }
    }
    return succeeded_;
  }
  std::uint64_t datagrams() const { return client_.counters().datagrams_sent + server_.counters().datagrams_sent; }

 private:
  static constexpr Address kClient{HostAddress::v4(10, 0, 0, 1), 1};
  static constexpr Address kServer{HostAddress::v4(10, 0, 0, 2), 2};

  bool pump(protocol::Endpoint& from, const Address& from_address, protocol::Endpoint& to) {
    bool moved = false;
    while (from.next_transmit(now_, *train_)) {
      moved = true;
      for (std::size_t i = 0; i < train_->segment_count; ++i) deliver(train_->segments[i], from_address, to);
      now_ += Rate::gigabits_per_second(100).time_for(train_->total_bytes);
    }
    return moved;
  }
  void deliver(const protocol::Segment& segment, const Address& from, protocol::Endpoint& to) {
    std::memcpy(datagram_.data(), segment.header.data, segment.header.size);
    protocol::Datagram datagram;
    datagram.from = from;
    datagram.to = (from == kClient ? kServer : kClient).host;
    datagram.bytes = {datagram_.data(), segment.size};
    if (to.place(datagram, *arrival_, now_)) to.commit(datagram, *arrival_, now_);
  }
  void serve() {
    protocol::Event event;
    while (server_.next_event(event, now_)) {
      if (event.kind != protocol::Event::Kind::request) continue;
      server_.release_message(event.message, now_);
      const ByteView piece{request_.data(), 8};
      server_.reply(event.request, {&piece, 1, 8, 2}, now_);
    }
  }
  void finish() {
    protocol::Event event;
    while (client_.next_event(event, now_)) {
      if (event.kind != protocol::Event::Kind::call_finished) continue;
      finished_ = true;
      succeeded_ = event.status == protocol::CallStatus::ok;
      if (succeeded_) client_.release_message(event.message, now_);
    }
  }
  bool skip_to_deadline() {
    const Time next = std::min(client_.next_deadline(), server_.next_deadline());
    if (next == kNever) return false;
    now_ = std::max(now_, next);
    client_.advance(now_);
    server_.advance(now_);
    return true;
  }

  Pool client_buffers_;
  Pool server_buffers_;
  protocol::Endpoint client_;
  protocol::Endpoint server_;
  std::unique_ptr<protocol::Train> train_;
  std::unique_ptr<protocol::Arrival> arrival_;
  std::vector<std::byte> request_ = std::vector<std::byte>(1 << 20);
  std::array<std::byte, 65536> datagram_{};
  Time now_{std::chrono::seconds(1)};
  bool finished_ = false;
  bool succeeded_ = false;
};

/// Argument: bytes of the request. The figure that the project budgets is `per_packet` at 1 MB.
void BM_CoreAndCodec(benchmark::State& state) {
  BackToBack hosts;
  const auto length = static_cast<std::uint64_t>(state.range(0));
  for (int i = 0; i < 10; ++i) {
    if (!hosts.call(length)) state.SkipWithError("the call failed");
  }
  const std::uint64_t before = hosts.datagrams();
  for (auto _ : state) {
    if (!hosts.call(length)) state.SkipWithError("the call failed");
  }
  const auto packets = static_cast<double>(hosts.datagrams() - before);
  state.counters["per_packet"] = benchmark::Counter(packets, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["packets_per_call"] = benchmark::Counter(packets, benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_CoreAndCodec)->Arg(100)->Arg(10'000)->Arg(1'000'000);

}  // namespace
