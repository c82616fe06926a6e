// An output-queued switch: the hosts below it through one port each way down, all others through any port up.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "simulation/packet.h"
#include "simulation/port.h"
#include "simulation/topology.h"
#include "testing/event_loop.h"

namespace homa::simulation {

class Switch final : public sim::EventTarget {
 public:
  /// Hosts from `first_host` on are below, `hosts_per_port` of them behind each port down.
  Switch(std::uint32_t first_host, std::uint32_t hosts_per_port, Routing routing, std::uint64_t seed)
      : first_host_(first_host), hosts_per_port_(hosts_per_port), routing_(routing), seed_(seed), rng_(seed) {}

  void add_down(Port& port) { down_.push_back(&port); }
  void add_up(Port& port) { up_.push_back(&port); }
  SharedBuffer& buffer() { return buffer_; }

  /// A packet has arrived, and has been in the switch for its delay.
  void on_event(std::uint8_t, std::uint64_t argument) override {
    auto* packet = reinterpret_cast<Packet*>(argument);
    const std::uint32_t offset = packet->destination - first_host_;  // wraps around for hosts before the first
    const std::uint32_t port = offset / hosts_per_port_;
    (port < down_.size() ? *down_[port] : choose_up(*packet)).enqueue(packet);
  }

 private:
  Port& choose_up(const Packet& packet) {
    if (up_.size() == 1) return *up_[0];
    if (routing_ == Routing::spray) return *up_[rng_.below(up_.size())];
    const std::uint64_t flow = std::uint64_t{packet.source} << 32 | packet.destination;
    return *up_[mix64(flow ^ seed_) % up_.size()];
  }

  const std::uint32_t first_host_;
  const std::uint32_t hosts_per_port_;
  const Routing routing_;
  const std::uint64_t seed_;
  Rng rng_;
  std::vector<Port*> down_;
  std::vector<Port*> up_;
  SharedBuffer buffer_;
};

}  // namespace homa::simulation
