#include "simulation/fabric.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace homa::simulation {
namespace {

struct Station final : sim::EventTarget {
  void on_event(std::uint8_t kind, std::uint64_t argument) override {
    ASSERT_EQ(kind, kPacketArrives);
    auto* packet = reinterpret_cast<Packet*>(argument);
    EXPECT_EQ(packet->destination, number);
    ++arrived;
    fabric->pool().give(packet);
  }
  Fabric* fabric = nullptr;
  std::uint32_t number = 0;
  std::uint64_t arrived = 0;
};

class Network {
 public:
  explicit Network(const Topology& topology) : stations_(topology.hosts()) {
    std::vector<sim::EventTarget*> targets;
    for (Station& station : stations_) targets.push_back(&station);
    fabric_ = std::make_unique<Fabric>(topology, targets, 5);
    for (std::uint32_t i = 0; i < stations_.size(); ++i) {
      stations_[i].fabric = fabric_.get();
      stations_[i].number = i;
    }
  }
  void send(std::uint32_t from, std::uint32_t to) {
    Packet* packet = fabric_->pool().take();
    packet->source = from;
    packet->destination = to;
    packet->wire_bytes = 1000;
    packet->queue = 0;
    packet->ecn = Ecn::not_ect;
    packet->tail = Time{};
    fabric_->uplink(from).enqueue(packet);
  }
  void drain() {
    while (fabric_->loop().step()) {
    }
  }
  Fabric& fabric() { return *fabric_; }
  std::vector<Station>& stations() { return stations_; }

 private:
  std::vector<Station> stations_;
  std::unique_ptr<Fabric> fabric_;
};

Topology leaf_spine() {
  const auto topology = parse_topology(
      "leaves = 3\nspines = 4\nhosts_per_leaf = 5\n[links]\nhost_gbps = 10\nuplink_gbps = 40\n", "leaf_spine");
  EXPECT_TRUE(topology) << topology.error;
  return *topology;
}

Topology three_tier() {
  const auto topology = parse_topology(
      "kind = \"three_tier\"\npods = 3\nleaves = 2\nspines = 2\ncores_per_group = 2\nhosts_per_leaf = 3\n[links]\n"
      "host_gbps = 10\nuplink_gbps = 40\ncore_gbps = 40\n",
      "three_tier");
  EXPECT_TRUE(topology) << topology.error;
  return *topology;
}

TEST(Fabric, EveryHostReachesEveryOther) {
  for (const Topology& topology : {leaf_spine(), three_tier()}) {
    Network network(topology);
    for (std::uint32_t from = 0; from < topology.hosts(); ++from) {
      for (std::uint32_t to = 0; to < topology.hosts(); ++to) {
        if (from != to) network.send(from, to);
      }
    }
    network.drain();
    for (const Station& station : network.stations()) EXPECT_EQ(station.arrived, topology.hosts() - 1);
    EXPECT_EQ(network.fabric().pool().live(), 0u);
  }
}

std::set<std::uint64_t> bytes_by_uplink_of_leaf_0(Routing routing, std::vector<std::uint64_t>& bytes) {
  Topology topology = leaf_spine();
  topology.routing = routing;
  Network network(topology);
  for (int i = 0; i < 4000; ++i) network.send(0, 14);
  network.drain();
  std::set<std::uint64_t> used;
  for (std::uint32_t i = 0; i < topology.spines; ++i) {
    bytes.push_back(network.fabric().ports(PortKind::leaf_up)[i]->counts().bytes_sent);
    if (bytes.back() > 0) used.insert(i);
  }
  return used;
}

TEST(Fabric, SprayingUsesAllPathsEvenly) {
  std::vector<std::uint64_t> bytes;
  EXPECT_EQ(bytes_by_uplink_of_leaf_0(Routing::spray, bytes).size(), 4u);
  for (const std::uint64_t one : bytes) EXPECT_NEAR(static_cast<double>(one), 1e6, 1.1e5);  // four deviations
}

TEST(Fabric, HashingKeepsAFlowOnOnePath) {
  std::vector<std::uint64_t> bytes;
  EXPECT_EQ(bytes_by_uplink_of_leaf_0(Routing::hash, bytes).size(), 1u);
}

TEST(Fabric, FewerLevelsShareQueuesEvenly) {
  Topology topology = leaf_spine();
  topology.priority_levels = 2;
  Network network(topology);
  EXPECT_EQ(network.fabric().queue_of(Priority{3}), 0);
  EXPECT_EQ(network.fabric().queue_of(Priority{4}), 1);
}

}  // namespace
}  // namespace homa::simulation
