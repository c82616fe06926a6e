#include "simulation/fabric.h"

#include "base/assert.h"

namespace homa::simulation {

const char* to_string(PortKind kind) {
  switch (kind) {
    case PortKind::host_up:
      return "host_up";
    case PortKind::host_down:
      return "host_down";
    case PortKind::leaf_up:
      return "leaf_up";
    case PortKind::spine_down:
      return "spine_down";
    case PortKind::spine_up:
      return "spine_up";
    case PortKind::core_down:
      return "core_down";
    case PortKind::count_:
      break;
  }
  return "?";
}

Fabric::Fabric(const Topology& topology, const std::vector<sim::EventTarget*>& hosts, std::uint64_t seed)
    : topology_(topology) {
  HOMA_ASSERT(hosts.size() == topology.hosts());
  std::uint64_t switches = 0;
  const auto add = [&](std::deque<Switch>& tier, std::uint32_t first_host, std::uint32_t hosts_per_port) {
    tier.emplace_back(first_host, hosts_per_port, topology.routing, mix64(seed + ++switches));
    tier.back().buffer() = {topology.buffer_bytes, topology.buffer_alpha};
  };
  for (std::uint32_t leaf = 0; leaf < topology.pods * topology.leaves; ++leaf) {
    add(leaves_, leaf * topology.hosts_per_leaf, 1);
  }
  for (std::uint32_t pod = 0; pod < topology.pods; ++pod) {
    for (std::uint32_t s = 0; s < topology.spines; ++s) add(spines_, pod * hosts_per_pod(), topology.hosts_per_leaf);
  }
  for (std::uint32_t c = 0; c < topology.spines * topology.cores_per_group; ++c) add(cores_, 0, hosts_per_pod());
  for (std::uint32_t leaf = 0; leaf < topology.pods * topology.leaves; ++leaf) wire_leaf(leaf, hosts);
  if (topology.kind == TopologyKind::three_tier) wire_cores();
}

// The delay of a switch is part of the link that leads to it: one event less per hop.
Port& Fabric::add_port(PortKind which, Rate rate, Switch* owner, sim::EventTarget& far_end, Duration delay) {
  PortSettings settings;
  settings.rate = rate;
  settings.far_end = &far_end;
  settings.delay = topology_.link_delay + delay;
  settings.cut_through = topology_.forwarding == Forwarding::cut_through && which != PortKind::host_down;
  settings.one_queue = which == PortKind::host_up && topology_.nic_has_one_queue;
  if (owner != nullptr) {
    settings.ecn_threshold_bytes = topology_.ecn_threshold_bytes;
    if (topology_.buffering == Buffering::per_port) settings.buffer_bytes = topology_.buffer_bytes;
    if (topology_.buffering == Buffering::shared) settings.shared = &owner->buffer();
  }
  Port& port = all_ports_.emplace_back(loop_, pool_, settings);
  kind(which).push_back(&port);
  return port;
}

void Fabric::wire_leaf(std::uint32_t leaf, const std::vector<sim::EventTarget*>& hosts) {
  Switch& leaf_switch = leaves_[leaf];
  for (std::uint32_t i = 0; i < topology_.hosts_per_leaf; ++i) {
    sim::EventTarget& host = *hosts[leaf * topology_.hosts_per_leaf + i];
    add_port(PortKind::host_up, topology_.host_rate, nullptr, leaf_switch,
             topology_.transmit_delay + topology_.switch_delay);
    leaf_switch.add_down(
        add_port(PortKind::host_down, topology_.host_rate, &leaf_switch, host, topology_.receive_delay));
  }
  const std::uint32_t pod = leaf / topology_.leaves;
  for (std::uint32_t i = 0; i < topology_.spines; ++i) {
    Switch& spine = spines_[pod * topology_.spines + i];
    leaf_switch.add_up(add_port(PortKind::leaf_up, topology_.uplink_rate, &leaf_switch, spine, topology_.switch_delay));
    spine.add_down(add_port(PortKind::spine_down, topology_.uplink_rate, &spine, leaf_switch, topology_.switch_delay));
  }
}

void Fabric::wire_cores() {
  for (std::uint32_t pod = 0; pod < topology_.pods; ++pod) {
    for (std::uint32_t group = 0; group < topology_.spines; ++group) {
      Switch& spine = spines_[pod * topology_.spines + group];
      for (std::uint32_t i = 0; i < topology_.cores_per_group; ++i) {
        Switch& core = cores_[group * topology_.cores_per_group + i];
        spine.add_up(add_port(PortKind::spine_up, topology_.core_rate, &spine, core, topology_.switch_delay));
        core.add_down(add_port(PortKind::core_down, topology_.core_rate, &core, spine, topology_.switch_delay));
      }
    }
  }
}

void Fabric::reset_counts() {
  for (Port& port : all_ports_) port.reset_counts();
}

}  // namespace homa::simulation
