// The denominators of slowdown against messages that are alone in the network.
#include "simulation/unloaded.h"

#include <gtest/gtest.h>

#include "tests/unit/simulation/support.h"

namespace homa::simulation {
namespace {

constexpr std::uint64_t kSizes[] = {1,    100,  1441,  1442,  1443,   2884,   2900,    9327,
                                    9328, 9329, 10770, 12000, 100000, 123456, 1000000, 10000000};

/// Each size from host 0 to `to`, alone; the difference from what is claimed must be within `tolerance` of it.
void check(const Topology& topology, const protocol::Config& config, std::uint32_t to, double tolerance_ns) {
  UnloadedTimes unloaded(topology, config);
  const Distance distance = distance_between(topology, 0, to);
  for (const std::uint64_t size : kSizes) {
    HostsUnderTest hosts(topology, config);
    hosts.host(0).start_one_way(to, size, 0);
    hosts.run();
    ASSERT_EQ(hosts.arrivals.size(), 1u) << size;
    const auto measured = static_cast<double>((hosts.arrivals[0].when - Time{}).count());
    const auto claimed = static_cast<double>(unloaded.of(size, distance).count());
    EXPECT_NEAR(measured, claimed, tolerance_ns) << size << " bytes to host " << to;
  }
}

// One path: with spraying, a short last packet may overtake a long one before it, and save the difference.
TEST(Unloaded, IsWhatALoneMessageTakes) {
  Topology topology = paper_network();
  topology.routing = Routing::hash;
  check(topology, paper_config(topology), 1, 1);
  check(topology, paper_config(topology), 143, 1);
}

TEST(Unloaded, IsWhatALoneEchoTakes) {
  const auto cluster = load_topology("homa18-cluster");
  ASSERT_TRUE(cluster) << cluster.error;
  RunSpec spec;
  spec.generator = Generator::request_response;
  const protocol::Config config = endpoint_config(spec, *cluster, *Workload::load("w4"));
  UnloadedTimes unloaded(*cluster, config);
  // Published of the implementation: 4.3 us for a few bytes.
  EXPECT_NEAR(static_cast<double>(unloaded.of_call(3, 3, Distance::same_leaf).count()), 4300, 10);
  for (const std::uint64_t size : kSizes) {
    HostsUnderTest hosts(*cluster, config);
    hosts.host(0).start_call(15, size, 0);
    hosts.run();
    ASSERT_EQ(hosts.finishes.size(), 1u) << size;
    EXPECT_NEAR(static_cast<double>((hosts.finishes[0].when - Time{}).count()),
                static_cast<double>(unloaded.of_call(size, size, Distance::same_leaf).count()), 1)
        << size;
  }
}

TEST(Unloaded, HoldsForCutThroughAndThreeTiers) {
  const auto topology = parse_topology(
      "kind = \"three_tier\"\npods = 2\nleaves = 2\nspines = 2\ncores_per_group = 2\nhosts_per_leaf = 2\n[links]\n"
      "host_gbps = 10\nuplink_gbps = 40\ncore_gbps = 100\ndelay_ns = 30\n[switches]\ndelay_ns = 250\n"
      "forwarding = \"cut_through\"\n[hosts]\ntransmit_delay_ns = 500\nreceive_delay_ns = 1000\n",
      "three");
  ASSERT_TRUE(topology) << topology.error;
  check(*topology, paper_config(*topology), 1, 1);
  check(*topology, paper_config(*topology), 2, 1);
  check(*topology, paper_config(*topology), 7, 1);
}

// Datagram: acknowledgments, cutoffs and trains make small differences; the connection is opened before.
TEST(Unloaded, HoldsForDatagramsWithinTwoPercent) {
  const Topology topology = paper_network();
  RunSpec spec;
  spec.carrier = RunCarrier::datagram;
  spec.policy = "libhoma";
  const protocol::Config config = endpoint_config(spec, topology, *Workload::load("w4"));
  UnloadedTimes unloaded(topology, config);
  HostsUnderTest hosts(topology, config);
  for (int i = 0; i < 3; ++i) {
    hosts.host(0).start_one_way(143, 1000, 0);
    hosts.run(10ms);
  }
  for (const std::uint64_t size : kSizes) {
    hosts.arrivals.clear();
    const Time start = hosts.loop().now();
    hosts.host(0).start_one_way(143, size, 0);
    hosts.run(100ms);
    ASSERT_EQ(hosts.arrivals.size(), 1u) << size;
    const auto measured = static_cast<double>((hosts.arrivals[0].when - start).count());
    const auto claimed = static_cast<double>(unloaded.of(size, Distance::same_pod).count());
    EXPECT_NEAR(measured / claimed, 1, 0.02) << size << " bytes";
  }
}

}  // namespace
}  // namespace homa::simulation
