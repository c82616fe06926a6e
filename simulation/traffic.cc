#include "simulation/traffic.h"

#include <cmath>

namespace homa::simulation {

PoissonTraffic::PoissonTraffic(sim::EventLoop& loop, const Workload& workload, std::uint32_t hosts,
                               double bytes_per_second, std::uint64_t seed, MessageStarter& starter)
    : loop_(loop),
      workload_(workload),
      hosts_(hosts),
      mean_gap_ns_(workload.mean() / bytes_per_second * 1e9),
      starter_(starter) {
  for (std::uint32_t host = 0; host < hosts; ++host) sources_.push_back({Rng(mix64(seed) + host), 0});
}

void PoissonTraffic::start() {
  for (std::uint64_t host = 0; host < hosts_; ++host) schedule(host);
}

void PoissonTraffic::schedule(std::uint64_t host) {
  Source& source = sources_[host];
  source.next_ns += -std::log(1 - source.rng.unit()) * mean_gap_ns_;
  loop_.at(Time(Duration(static_cast<Duration::rep>(source.next_ns))), *this, 0, host);
}

void PoissonTraffic::on_event(std::uint8_t, std::uint64_t host) {
  Rng& rng = sources_[host].rng;
  const std::uint64_t length = workload_.sample(rng);
  const auto step = static_cast<std::uint32_t>(1 + rng.below(hosts_ - 1));
  starter_.start_message(static_cast<std::uint32_t>(host), (static_cast<std::uint32_t>(host) + step) % hosts_, length);
  schedule(host);
}

}  // namespace homa::simulation
