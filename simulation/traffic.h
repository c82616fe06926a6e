// Who starts which message when. Random numbers come from a seed of their own, so that runs that differ in policy or
// carrier carry the very same messages.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "simulation/workload.h"
#include "testing/event_loop.h"

namespace homa::simulation {

/// Takes what a generator makes.
class MessageStarter {
 public:
  virtual void start_message(std::uint32_t source, std::uint32_t destination, std::uint64_t length) = 0;

 protected:
  ~MessageStarter() = default;
};

/// Each host starts messages to random others, at exponential distances of time.
class PoissonTraffic final : public sim::EventTarget {
 public:
  /// `bytes_per_second` of messages that each host starts.
  PoissonTraffic(sim::EventLoop& loop, const Workload& workload, std::uint32_t hosts, double bytes_per_second,
                 std::uint64_t seed, MessageStarter& starter);
  void start();
  void on_event(std::uint8_t kind, std::uint64_t host) override;

 private:
  struct Source {
    Rng rng;
    double next_ns;  // kept in full, or rounding would raise the load of small messages
  };
  void schedule(std::uint64_t host);

  sim::EventLoop& loop_;
  const Workload& workload_;
  const std::uint32_t hosts_;
  const double mean_gap_ns_;
  MessageStarter& starter_;
  std::vector<Source> sources_;
};

}  // namespace homa::simulation
