// A whole network: switches and ports wired up as a topology says, with an event loop and the packets under way.
//
// Hosts are not part of it: each attaches an EventTarget that receives its packets as kPacketArrives events, already
// late by the topology's receive_delay. A host sends through its uplink port.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "simulation/packet.h"
#include "simulation/port.h"
#include "simulation/switch.h"
#include "simulation/topology.h"
#include "testing/event_loop.h"

namespace homa::simulation {

enum class PortKind : std::uint8_t { host_up, host_down, leaf_up, spine_down, spine_up, core_down, count_ };
const char* to_string(PortKind kind);

class Fabric {
 public:
  /// `hosts[i]` receives what is sent to host i. Precondition: one for each host of the topology; they outlive this.
  Fabric(const Topology& topology, const std::vector<sim::EventTarget*>& hosts, std::uint64_t seed);
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  const Topology& topology() const { return topology_; }
  sim::EventLoop& loop() { return loop_; }
  PacketPool& pool() { return pool_; }
  Port& uplink(std::uint32_t host) { return *kind(PortKind::host_up)[host]; }
  Port& downlink(std::uint32_t host) { return *kind(PortKind::host_down)[host]; }
  const std::vector<Port*>& ports(PortKind which) const { return kinds_[static_cast<std::size_t>(which)]; }
  /// The queue of switches in which a priority goes.
  std::uint8_t queue_of(Priority priority) const {
    return static_cast<std::uint8_t>(static_cast<std::uint32_t>(index(priority)) * topology_.priority_levels /
                                     kPriorityLevels);
  }
  void reset_counts();

 private:
  std::vector<Port*>& kind(PortKind which) { return kinds_[static_cast<std::size_t>(which)]; }
  Port& add_port(PortKind which, Rate rate, Switch* owner, sim::EventTarget& far_end, Duration delay);
  void wire_leaf(std::uint32_t leaf, const std::vector<sim::EventTarget*>& hosts);
  void wire_cores();
  std::uint32_t hosts_per_pod() const { return topology_.leaves * topology_.hosts_per_leaf; }

  const Topology topology_;
  sim::EventLoop loop_;
  PacketPool pool_;
  std::deque<Switch> leaves_;
  std::deque<Switch> spines_;  // pod after pod
  std::deque<Switch> cores_;   // group after group
  std::deque<Port> all_ports_;
  std::vector<Port*> kinds_[static_cast<std::size_t>(PortKind::count_)];
};

}  // namespace homa::simulation
