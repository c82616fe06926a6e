#include "simulation/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace homa::simulation {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kSmall = R"(
leaves = 2
spines = 2
hosts_per_leaf = 4
[links]
host_gbps = 10
uplink_gbps = 40
[switches]
delay_ns = 250
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Topology, ThePapersNetwork) {
  const auto topology = load_topology("homa18");
  ASSERT_TRUE(topology) << topology.error;
  EXPECT_EQ(topology->hosts(), 144u);
  EXPECT_EQ(topology->leaf_of(16), 1u);
  EXPECT_EQ(topology->pod_of(143), 0u);
  EXPECT_DOUBLE_EQ(topology->oversubscription(), 1.0);
  EXPECT_EQ(topology->switch_delay, 250ns);
  EXPECT_EQ(topology->forwarding, Forwarding::store_and_forward);
  EXPECT_EQ(topology->routing, Routing::spray);
  // 1.5 us of software (section 5.2).
  EXPECT_EQ(topology->transmit_delay + topology->receive_delay, 1500ns);
}

TEST(Topology, DefaultsAreSaidInTheReadme) {
  const auto topology = parse_topology(kSmall, "small");
  ASSERT_TRUE(topology) << topology.error;
  EXPECT_EQ(topology->kind, TopologyKind::leaf_spine);
  EXPECT_EQ(topology->priority_levels, 8u);
  EXPECT_EQ(topology->buffering, Buffering::unlimited);
  EXPECT_EQ(topology->ecn_threshold_bytes, 0u);
  EXPECT_EQ(topology->link_delay, 0ns);
}

TEST(Topology, ThreeTiers) {
  const auto topology = parse_topology(
      "kind = \"three_tier\"\npods = 3\ncores_per_group = 2\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n"
      "[links]\nhost_gbps = 10\nuplink_gbps = 40\ncore_gbps = 40\n[switches]\nbuffering = \"shared\"\n"
      "buffer_bytes = 1000000\nbuffer_alpha = 0.5\n",
      "three");
  ASSERT_TRUE(topology) << topology.error;
  EXPECT_EQ(topology->hosts(), 24u);
  EXPECT_EQ(topology->pod_of(8), 1u);
  EXPECT_EQ(topology->buffering, Buffering::shared);
  EXPECT_DOUBLE_EQ(topology->buffer_alpha, 0.5);
}

TEST(Topology, EveryFaultNamesItsLineAndTheCure) {
  struct Case {
    std::string text;
    std::string start;
    std::string part;
  };
  const Case cases[] = {
      {with("leaves = 2", "leaves = 0"), "f.toml:2: ", "leaves must be a whole number from 1"},
      {with("leaves = 2", "leaves = 2.5"), "f.toml:2: ", "whole number"},
      {with("leaves = 2", "leafs = 2"), "f.toml:2: ", "unknown key 'leafs'; here may stand: kind"},
      {with("spines = 2\n", ""), "f.toml: ", "spines is missing"},
      {with("host_gbps = 10", "host_gbps = 0"), "f.toml:6: ", "above 0"},
      {with("host_gbps = 10\n", ""), "f.toml:5: ", "links.host_gbps is missing"},
      {with("delay_ns = 250", "delay_ns = -1"), "f.toml:9: ", "from 0"},
      {with("delay_ns = 250", "forwarding = \"fast\""), "f.toml:9: ", "\"store_and_forward\" or \"cut_through\""},
      {with("delay_ns = 250", "buffering = \"per_port\""), "f.toml:8: ", "buffer_bytes is missing"},
      {with("delay_ns = 250", "buffering = \"shared\"\nbuffer_bytes = 50"), "f.toml:10: ", "from 10000"},
      {with("delay_ns = 250", "priority_levels = 9"), "f.toml:9: ", "from 1 to 8"},
      {with("leaves = 2", "leaves = 2\npods = 2"), "f.toml:3: ", "three_tier"},
      {with("[switches]", "[hosts]\ndelivery_lead_ns = 5\n[switches]"), "f.toml:9: ", "no message is delivered before"},
      {with("leaves = 2", "leaves = = 2"), "f.toml:2: ", ""},
      {"leaves = 1\nspines = 1\nhosts_per_leaf = 1\n[links]\nhost_gbps = 1\nuplink_gbps = 1\n",
       "f.toml:3: ", "two hosts"},
  };
  for (const Case& one : cases) {
    const auto topology = parse_topology(one.text, "f.toml");
    ASSERT_FALSE(topology) << one.text;
    EXPECT_THAT(topology.error, StartsWith(one.start)) << one.text;
    EXPECT_THAT(topology.error, HasSubstr(one.part)) << one.text;
    EXPECT_EQ(topology.error.find('\n'), std::string::npos) << "one line: " << topology.error;
  }
}

TEST(Topology, TooManyHostsAreRefused) {
  std::string text = with("leaves = 2", "leaves = 4000");
  text.replace(text.find("hosts_per_leaf = 4"), 18, "hosts_per_leaf = 40");
  const auto topology = parse_topology(text, "f.toml");
  ASSERT_FALSE(topology);
  EXPECT_THAT(topology.error, HasSubstr("160000 hosts; at most"));
}

TEST(Topology, AMissingFileNamesWhatThereIs) {
  const auto topology = load_topology("homa19");
  ASSERT_FALSE(topology);
  EXPECT_THAT(topology.error, HasSubstr("homa18"));
}

}  // namespace
}  // namespace homa::simulation
