// A network of hosts and switches: plain values, read from a small TOML file (data/simulation/README.md).
//
// leaf_spine: every leaf has an uplink to every spine. three_tier: each pod is a leaf-spine network, and spine i of
// every pod has an uplink to each core switch of group i.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "base/units.h"
#include "simulation/outcome.h"

namespace homa::simulation {

enum class TopologyKind : std::uint8_t { leaf_spine, three_tier };
enum class Forwarding : std::uint8_t {
  store_and_forward,
  cut_through,  ///< a frame may leave while it arrives, never faster than it arrives
};
enum class Routing : std::uint8_t {
  spray,  ///< each packet takes any of the equal paths at random
  hash,   ///< all packets from one host to another take the same path
};
enum class Buffering : std::uint8_t {
  unlimited,
  per_port,  ///< each port has its own
  shared,    ///< one per switch; a port may use `alpha` times what is free (dynamic threshold)
};

struct Topology {
  std::string name;
  TopologyKind kind = TopologyKind::leaf_spine;
  std::uint32_t pods = 1;
  std::uint32_t leaves = 1;           ///< per pod
  std::uint32_t spines = 1;           ///< per pod
  std::uint32_t cores_per_group = 0;  ///< three_tier; there is a group per spine of a pod
  std::uint32_t hosts_per_leaf = 2;

  Rate host_rate;
  Rate uplink_rate;  ///< between leaf and spine
  Rate core_rate;    ///< between spine and core
  Duration link_delay{0};
  Duration switch_delay{0};
  Forwarding forwarding = Forwarding::store_and_forward;
  Routing routing = Routing::spray;
  std::uint32_t priority_levels = 8;  ///< strict; fewer levels share queues evenly
  Buffering buffering = Buffering::unlimited;
  std::uint64_t buffer_bytes = 0;
  double buffer_alpha = 1;
  std::uint64_t ecn_threshold_bytes = 0;  ///< frames that find more queued are marked; 0: never

  Duration transmit_delay{0};      ///< of a host: from the decision to send until the first bit is on the link
  bool nic_has_one_queue = false;  ///< of a host: what its card was handed leaves in that order
  /// Of a host: from the last bit off the link until software has acted on it and may decide to send an answer ...
  Duration receive_delay{0};
  /// ... and by how much a message is with the application before that.
  Duration delivery_lead{0};

  std::uint32_t hosts() const { return pods * leaves * hosts_per_leaf; }
  std::uint32_t leaf_of(std::uint32_t host) const { return host / hosts_per_leaf; }
  std::uint32_t pod_of(std::uint32_t host) const { return leaf_of(host) / leaves; }
  /// Rate of all hosts of a leaf over the rate of its uplinks; above 1: oversubscribed.
  double oversubscription() const;
};

/// `text` is TOML; `name` stands before the line number in errors: "fabric.toml:12: ...".
Outcome<Topology> parse_topology(std::string_view text, const std::string& name);
/// A path, or the name of a file that the project keeps ("homa18").
Outcome<Topology> load_topology(const std::string& path);
/// The same with so many hosts: leaves (three_tier: pods) are added or left out, each stays as it is.
Outcome<Topology> with_hosts(Topology topology, std::uint32_t hosts);

}  // namespace homa::simulation
