#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulation/run_result.h"
#include "simulation/run_spec.h"

namespace homa::simulation {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(RunSpec, SurvivesJson) {
  RunSpec spec;
  spec.workload = "w2";
  spec.carrier = RunCarrier::datagram;
  spec.policy = "libhoma";
  spec.generator = Generator::request_response;
  spec.load = 0.123456789;
  spec.loss_rate = 0.01;
  spec.seed = ~std::uint64_t{0};
  const auto read = spec_from_json(json::parse(to_json(spec).dump()));
  ASSERT_TRUE(read) << read.error;
  EXPECT_EQ(to_json(*read), to_json(spec));
  EXPECT_EQ(read->seed, spec.seed);
}

TEST(RunSpec, DefaultsAreValid) {
  EXPECT_EQ(fault_of(RunSpec()), "");
}

TEST(RunSpec, FaultsNameTheKeyAndTheCure) {
  const std::pair<json, const char*> cases[] = {
      {{{"lode", 0.5}}, "lode is unknown; here may stand: topology"},
      {{{"load", "high"}}, "load must be a number"},
      {{{"load", 1.2}}, "load must be above 0 and at most 1"},
      {{{"load", 0}}, "load must be above 0"},
      {{{"seed", -1}}, "seed must be a whole number"},
      {{{"priority_levels", 4294967296}}, "priority_levels must be a whole number"},
      {{{"carrier", "tcp"}}, "carrier must be native or datagram"},
      {{{"generator", 3}}, "generator must be poisson_one_way or"},
      {{{"policy", "best"}}, "policy 'best' is unknown"},
      {{{"loss_rate", 0.01}}, "loss_rate needs carrier datagram"},
      {{{"generator", "incast"}}, "needs carrier datagram"},
      {{{"carrier", "datagram"}}, "policy homa18 needs carrier native"},
      {{{"scheduled_levels", 4}, {"priority_levels", 4}}, "scheduled_levels must be below"},
      {json::array(), "must be an object"},
  };
  for (const auto& [text, part] : cases) {
    const auto spec = spec_from_json(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_THAT(spec.error, HasSubstr(part));
  }
}

TEST(RunResult, SurvivesJson) {
  RunResult result;
  result.buckets.emplace_back();
  result.buckets[0].slowdown.p99 = {2.5, 2.25, 2.75};
  result.ports.push_back({"host_down", 144, 17000.5, 146000, 0.8, 3});
  result.flows.push_back({"A to C", 4.9, 5.0});
  result.traffic.priority_bytes[7] = 99;
  result.backlog.verdict = LoadVerdict::diverges;
  result.end = RunEnd::diverged;
  result.cost.cpu_seconds = 1.5;
  const auto read = result_from_json(json::parse(to_json(result).dump()));
  ASSERT_TRUE(read) << read.error;
  EXPECT_EQ(to_json(*read), to_json(result));
  EXPECT_EQ(read->ports[0].mean_bytes, 17000.5);
  EXPECT_EQ(read->traffic.priority_bytes[7], 99u);
}

TEST(RunResult, CostIsKeptApart) {
  RunResult one;
  RunResult other;
  other.cost.cpu_seconds = 12;
  other.cost.peak_memory_mb = 90;
  EXPECT_NE(to_json(one), to_json(other));
  EXPECT_EQ(deterministic_json(one).dump(), deterministic_json(other).dump());
}

TEST(RunResult, FaultsNameThePath) {
  json bad = to_json(RunResult());
  bad["backlog"]["slope"]["low"] = "none";
  const auto read = result_from_json(bad);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error, HasSubstr("backlog.slope.low must be a number"));
}

}  // namespace
}  // namespace homa::simulation
