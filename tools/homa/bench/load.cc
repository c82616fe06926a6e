#include "bench/load.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "bench/socket.h"
#include "failure.h"

namespace homa::tools {
namespace {

constexpr std::size_t kBuckets = 10;
constexpr Duration kTick = 100ms;
/// An open loop that queues more than this is hopeless: the rate is beyond what the transport carries.
constexpr std::size_t kMaxBacklog = 1'000'000;

std::vector<std::uint64_t> bucket_borders(const simulation::Workload& sizes) {
  std::vector<std::uint64_t> borders;
  for (std::size_t i = 1; i <= kBuckets; ++i) {
    const std::uint64_t border = sizes.quantile(static_cast<double>(i) / kBuckets);
    if (borders.empty() || border > borders.back()) borders.push_back(border);
  }
  return borders;
}

class Load {
 public:
  Load(Peer& peer, const LoadSettings& settings, const UnloadedLatency& unloaded)
      : peer_(peer),
        settings_(settings),
        unloaded_(unloaded),
        rng_(settings.seed),
        calls_(settings.outstanding + settings.background) {
    for (std::uint32_t slot = settings.outstanding; slot > 0; --slot) free_.push_back(slot - 1);
    if (settings.by_size) {
      for (const std::uint64_t border : bucket_borders(settings.sizes)) result_.buckets.push_back({border, {}, {}});
    }
    peer_.on_done([this](std::uint32_t slot, bool ok) { done(slot, ok); });
  }
  ~Load() { peer_.on_done({}); }

  LoadResult run(const std::atomic<bool>& stop, const std::function<void(std::uint64_t)>& tick) {
    begin_ = now();
    end_ = begin_ + settings_.duration;
    next_arrival_ = now();
    Time next_tick = now() + kTick;
    Time at = now();
    while (at < end_ && !stop && (settings_.count == 0 || result_.calls + result_.failed < settings_.count)) {
      if (settings_.background > 0) start_background();
      start_calls(at);
      peer_.wait(std::min<Duration>(until_next(at), kTick));
      at = now();
      if (at >= next_tick) {
        tick(result_.calls);
        next_tick = at + kTick;
      }
    }
    result_.elapsed = std::min(at, end_) - begin_;
    drain();
    return std::move(result_);
  }

 private:
  struct Call {
    Time due;
    std::uint64_t size = 0;
  };
  std::size_t under_way() const {
    std::size_t background = 0;
    for (std::size_t slot = settings_.outstanding; slot < calls_.size(); ++slot) background += calls_[slot].size > 0;
    return settings_.outstanding - free_.size() + background;
  }
  void start_background() {
    for (std::uint32_t slot = settings_.outstanding; slot < calls_.size(); ++slot) {
      Call& call = calls_[slot];
      if (call.size > 0) continue;
      if (!peer_.start(slot, settings_.background_size)) return;
      call = {now(), settings_.background_size};
    }
  }
  void background_done(Call& call, bool ok, Time at) {
    if (!draining_ && at <= end_) {
      if (ok) {
        result_.background_bytes += call.size;
        result_.background_latency.record(at - call.due);
      } else {
        ++result_.failed;
      }
    }
    call.size = 0;
  }
  bool open_loop() const { return settings_.rate > 0; }

  void start_calls(Time at) {
    if (open_loop()) {
      for (; next_arrival_ <= at; next_arrival_ += gap())
        backlog_.push_back({next_arrival_, settings_.sizes.sample(rng_)});
      if (backlog_.size() > kMaxBacklog)
        throw Failure("the offered rate is far beyond what this transport carries; lower --rate");
    } else {
      while (backlog_.size() < free_.size()) backlog_.push_back({at, settings_.sizes.sample(rng_)});
    }
    while (!backlog_.empty() && !free_.empty()) {
      Call& call = calls_[free_.back()];
      call = backlog_.front();
      if (!open_loop()) call.due = now();
      if (!peer_.start(free_.back(), call.size)) return;
      free_.pop_back();
      backlog_.pop_front();
    }
  }
  Duration gap() { return Duration(static_cast<Duration::rep>(-std::log(1.0 - rng_.unit()) * 1e9 / settings_.rate)); }
  Duration until_next(Time at) const {
    const Time next = open_loop() ? std::min(next_arrival_, end_) : end_;
    return std::max(next - at, Duration{});
  }

  void done(std::uint32_t slot, bool ok) {
    const Time at = now();
    if (slot >= settings_.outstanding) {
      background_done(calls_[slot], ok, at);
      return;
    }
    const Call call = calls_[slot];
    free_.push_back(slot);
    if (draining_ || at > end_) return;
    if (!ok) {
      ++result_.failed;
      return;
    }
    ++result_.calls;
    result_.request_bytes += call.size;
    const Duration latency = at - call.due;
    result_.latency.record(latency);
    if (!result_.buckets.empty()) record_by_size(call.size, latency);
  }
  void record_by_size(std::uint64_t size, Duration latency) {
    auto bucket = std::find_if(result_.buckets.begin(), result_.buckets.end(),
                               [&](const SizeBucket& candidate) { return size <= candidate.up_to; });
    if (bucket == result_.buckets.end()) --bucket;
    bucket->latency.record(latency);
    const double slowdown = unloaded_.empty() ? 0 : static_cast<double>(latency.count()) / unloaded_.at(size);
    bucket->slowdown_permille.record(static_cast<std::uint64_t>(slowdown * 1000));
  }
  void drain() {
    const Time until = now() + settings_.drain;
    draining_ = true;
    while (under_way() > 0 && now() < until) peer_.wait(10ms);
    result_.unfinished = under_way();
  }

  Peer& peer_;
  const LoadSettings& settings_;
  const UnloadedLatency& unloaded_;
  Rng rng_;
  std::vector<Call> calls_;
  std::vector<std::uint32_t> free_;
  std::deque<Call> backlog_;
  Time begin_{}, end_{}, next_arrival_{};
  bool draining_ = false;
  LoadResult result_;
};

}  // namespace

void LoadResult::merge(const LoadResult& other) {
  latency.merge(other.latency);
  for (std::size_t i = 0; i < std::min(buckets.size(), other.buckets.size()); ++i) {
    buckets[i].latency.merge(other.buckets[i].latency);
    buckets[i].slowdown_permille.merge(other.buckets[i].slowdown_permille);
  }
  calls += other.calls;
  failed += other.failed;
  unfinished += other.unfinished;
  request_bytes += other.request_bytes;
  background_bytes += other.background_bytes;
  background_latency.merge(other.background_latency);
  elapsed = std::max(elapsed, other.elapsed);
}

double UnloadedLatency::at(std::uint64_t size) const {
  const auto above = std::lower_bound(points_.begin(), points_.end(), size,
                                      [](const Point& point, std::uint64_t wanted) { return point.size < wanted; });
  const auto latency = [](const Point& point) { return static_cast<double>(point.latency.count()); };
  if (above == points_.begin()) return latency(*above);
  if (above == points_.end()) return latency(points_.back());
  const Point& low = *std::prev(above);
  const double part = static_cast<double>(size - low.size) / static_cast<double>(above->size - low.size);
  return latency(low) + part * (latency(*above) - latency(low));
}

UnloadedLatency measure_unloaded(Peer& peer, const LoadSettings& settings) {
  constexpr int kCallsPerSize = 20;
  std::vector<std::uint64_t> sizes = bucket_borders(settings.sizes);
  if (sizes.front() > settings.sizes.smallest()) sizes.insert(sizes.begin(), settings.sizes.smallest());
  UnloadedLatency unloaded;
  bool done = false;
  peer.on_done([&](std::uint32_t, bool) { done = true; });
  for (const std::uint64_t size : sizes) {
    Duration best = Duration::max();
    for (int i = 0; i < kCallsPerSize; ++i) {
      done = false;
      const Time begin = now();
      if (!peer.start(0, size)) continue;
      while (!done && now() - begin < 10s) peer.wait(100ms);
      if (!done) throw Failure("no answer while measuring unloaded latency");
      best = std::min<Duration>(best, now() - begin);
    }
    unloaded.add(size, best);
  }
  peer.on_done({});
  return unloaded;
}

LoadResult run_load(Peer& peer, const LoadSettings& settings, const UnloadedLatency& unloaded,
                    const std::atomic<bool>& stop, const std::function<void(std::uint64_t)>& tick) {
  return Load(peer, settings, unloaded).run(stop, tick);
}

}  // namespace homa::tools
