#include "simulation/poisson_traffic.h"

#include <cmath>

namespace homa::simulation {

PoissonTraffic::PoissonTraffic(sim::EventLoop& loop, const Workload& workload, const Settings& settings,
                               MessageStarter& starter)
    : loop_(loop),
      workload_(workload),
      settings_(settings),
      mean_gap_ns_(workload.mean() / settings.bytes_per_second * 1e9),
      starter_(starter) {
  for (std::uint32_t host = 0; host < settings.sources; ++host)
    sources_.push_back({Rng(mix64(settings.seed) + host), 0});
}

void PoissonTraffic::start() {
  for (std::uint64_t host = 0; host < sources_.size(); ++host) schedule(host);
}

void PoissonTraffic::schedule(std::uint64_t host) {
  Source& source = sources_[host];
  source.next_ns += -std::log(1 - source.rng.unit()) * mean_gap_ns_;
  loop_.at(Time(Duration(static_cast<Duration::rep>(source.next_ns))), *this, 0, host);
}

void PoissonTraffic::on_event(std::uint8_t, std::uint64_t host) {
  Rng& rng = sources_[host].rng;
  MessageStarter::Start start;
  start.source = static_cast<std::uint32_t>(host);
  start.length = workload_.sample(rng);
  start.request = settings_.calls ? start.length : 0;
  const auto step = static_cast<std::uint32_t>(1 + rng.below(settings_.hosts - 1));
  start.destination = only_ >= 0 ? static_cast<std::uint32_t>(only_) : (start.source + step) % settings_.hosts;
  starter_.start_message(start);
  schedule(host);
}

}  // namespace homa::simulation
