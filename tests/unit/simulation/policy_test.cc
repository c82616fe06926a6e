#include "simulation/policy.h"

#include <gtest/gtest.h>

#include <string>

#include "protocol/cutoffs.h"
#include "simulation/packet_format.h"

namespace homa::simulation {
namespace {

TEST(Policy, OvercommitmentIsThePapersForItsWorkloads) {
  const std::pair<const char*, std::uint32_t> published[] = {{"w1", 1}, {"w2", 3}, {"w3", 4}, {"w4", 7}, {"w5", 7}};
  for (const auto& [name, levels] : published)
    EXPECT_EQ(homa18_scheduled_levels(*Workload::load(name)), levels) << name;
}

// Each unscheduled level carries equal bytes, as far as the steps of the workload allow.
TEST(Policy, CutoffsSplitUnscheduledBytesEvenly) {
  for (const char* name : {"w1", "w2", "w3"}) {
    const auto workload = Workload::load(name);
    ASSERT_TRUE(workload);
    const int scheduled = static_cast<int>(homa18_scheduled_levels(*workload));
    const auto cutoffs = equal_byte_cutoffs(*workload, kNativeUnscheduledBytes, kPriorityLevels, scheduled);
    const auto bytes_on = [&](int level) {
      return workload->mean_of([&](std::uint64_t size) {
        if (index(protocol::UnscheduledPolicy::priority_of(cutoffs, size)) != level) return 0.0;
        return static_cast<double>(
            native_message_cost(std::min<std::uint64_t>(size, kNativeUnscheduledBytes), kNativeUnscheduledBytes));
      });
    };
    double total = 0;
    for (int level = 0; level < kPriorityLevels; ++level) total += bytes_on(level);
    const int unscheduled = kPriorityLevels - scheduled;
    for (int level = scheduled; level < kPriorityLevels; ++level) {
      EXPECT_NEAR(bytes_on(level) / total, 1.0 / unscheduled, 0.04) << name << " level " << level;
    }
    for (int level = 0; level < scheduled; ++level) EXPECT_EQ(bytes_on(level), 0) << name << " level " << level;
  }
}

TEST(Policy, OneLevelCarriesAll) {
  const auto cutoffs = equal_byte_cutoffs(*Workload::load("w3"), kNativeUnscheduledBytes, 1, 1);
  EXPECT_EQ(index(protocol::UnscheduledPolicy::priority_of(cutoffs, 1)), 7);
  EXPECT_EQ(index(protocol::UnscheduledPolicy::priority_of(cutoffs, 1u << 30)), 7);
}

TEST(Policy, LibhomaIsTheProductsDefaults) {
  const auto topology = load_topology("homa18");
  ASSERT_TRUE(topology);
  RunSpec spec;
  spec.policy = "libhoma";
  spec.carrier = RunCarrier::datagram;
  const protocol::Config config = endpoint_config(spec, *topology, *Workload::load("w3"));
  const protocol::Config defaults;
  EXPECT_FALSE(config.fixed_policy.in_force());
  EXPECT_EQ(config.overcommitment, defaults.overcommitment);
  EXPECT_EQ(config.unscheduled_bytes, defaults.unscheduled_bytes);
  EXPECT_EQ(config.oldest_share, defaults.oldest_share);
  EXPECT_EQ(config.nic_budget, defaults.nic_budget);
}

}  // namespace
}  // namespace homa::simulation
