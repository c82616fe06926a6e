// Events per second of the simulated fabric alone: packets cross a leaf-spine network, no protocol takes part.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "simulation/fabric.h"

namespace {

using namespace homa;              // NOLINT(google-build-using-namespace): a benchmark of these namespaces
using namespace homa::simulation;  // NOLINT(google-build-using-namespace)

/// Sends frames of mixed sizes to random others, back to back or with gaps, and swallows what arrives.
class Source final : public sim::EventTarget {
 public:
  Source(std::uint32_t self, std::uint32_t hosts, double load) : self_(self), hosts_(hosts), load_(load), rng_(self) {}
  void start(Fabric& fabric) {
    fabric_ = &fabric;
    fabric.loop().after(Duration(rng_.below(1000)), *this, kSend);
  }
  void on_event(std::uint8_t kind, std::uint64_t argument) override {
    if (kind == kPacketArrives) return fabric_->pool().give(reinterpret_cast<Packet*>(argument));
    Packet* packet = fabric_->pool().take();
    packet->source = self_;
    packet->destination = static_cast<std::uint32_t>((self_ + 1 + rng_.below(hosts_ - 1)) % hosts_);
    packet->wire_bytes = rng_.chance(0.5) ? 1538 : 84;
    packet->priority = Priority{static_cast<std::uint8_t>(rng_.below(kPriorityLevels))};
    packet->queue = fabric_->queue_of(packet->priority);
    packet->ecn = Ecn::not_ect;
    packet->tail = Time{};
    Port& uplink = fabric_->uplink(self_);
    uplink.enqueue(packet);
    const double busy_ns = static_cast<double>(uplink.time_of(packet->wire_bytes).count());
    fabric_->loop().after(Duration(static_cast<Duration::rep>(busy_ns / load_)), *this, kSend);
  }

 private:
  static constexpr std::uint8_t kSend = 1;
  Fabric* fabric_ = nullptr;
  const std::uint32_t self_;
  const std::uint32_t hosts_;
  const double load_;
  Rng rng_;
};

void fabric_events(benchmark::State& state) {
  const auto topology = load_topology("homa18");
  if (!topology) return state.SkipWithError(topology.error.c_str());
  const double load = static_cast<double>(state.range(0)) / 100;
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<sim::EventTarget*> hosts;
  for (std::uint32_t i = 0; i < topology->hosts(); ++i) {
    sources.push_back(std::make_unique<Source>(i, topology->hosts(), load));
    hosts.push_back(sources.back().get());
  }
  Fabric fabric(*topology, hosts, 1);
  for (const auto& source : sources) source->start(fabric);
  fabric.loop().run_until(Time(200us));  // queues, pools and tables have grown
  const std::uint64_t before = fabric.loop().executed();
  Time end = fabric.loop().now();
  for (auto _ : state) fabric.loop().run_until(end += 10us);
  const auto events = static_cast<double>(fabric.loop().executed() - before);
  state.counters["events_per_second"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
  state.counters["live_packets"] = static_cast<double>(fabric.pool().live());
}
BENCHMARK(fabric_events)->ArgName("load_percent")->Arg(50)->Arg(80)->Unit(benchmark::kMicrosecond);

}  // namespace
