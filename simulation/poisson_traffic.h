// Messages or calls at exponential distances of time (SIGCOMM'18 section 5.2).
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "simulation/traffic.h"
#include "simulation/workload.h"
#include "testing/event_loop.h"

namespace homa::simulation {

class PoissonTraffic final : public Traffic, public sim::EventTarget {
 public:
  struct Settings {
    std::uint32_t sources = 0;    ///< hosts 0 .. sources - 1 start messages ...
    std::uint32_t hosts = 0;      ///< ... to any other of so many, at random
    double bytes_per_second = 0;  ///< of messages that each source starts
    bool calls = false;           ///< each message is asked for by a request as long
    std::uint64_t seed = 0;
  };
  PoissonTraffic(sim::EventLoop& loop, const Workload& workload, const Settings& settings, MessageStarter& starter);
  /// All messages go there.
  void send_only_to(std::uint32_t destination) { only_ = static_cast<std::int64_t>(destination); }
  void start() override;
  void on_event(std::uint8_t kind, std::uint64_t host) override;

 private:
  struct Source {
    Rng rng;
    double next_ns;  // kept in full, or rounding would raise the load of small messages
  };
  void schedule(std::uint64_t host);

  sim::EventLoop& loop_;
  const Workload& workload_;
  const Settings settings_;
  const double mean_gap_ns_;
  MessageStarter& starter_;
  std::int64_t only_ = -1;
  std::vector<Source> sources_;
};

}  // namespace homa::simulation
