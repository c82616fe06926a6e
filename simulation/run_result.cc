#include "simulation/run_result.h"

#include "simulation/json_fields.h"
#include "simulation/spec_fields.h"

namespace homa::simulation {

template <>
struct EnumNames<LoadVerdict> {
  static constexpr std::array<std::pair<LoadVerdict, const char*>, 3> kNames{{{LoadVerdict::sustainable, "sustainable"},
                                                                              {LoadVerdict::diverges, "diverges"},
                                                                              {LoadVerdict::unknown, "unknown"}}};
};
template <>
struct EnumNames<RunEnd> {
  static constexpr std::array<std::pair<RunEnd, const char*>, 4> kNames{{{RunEnd::complete, "complete"},
                                                                         {RunEnd::duration, "duration"},
                                                                         {RunEnd::diverged, "diverged"},
                                                                         {RunEnd::stopped, "stopped"}}};
};

/// Chooses among overloads by the type alone, const or not.
template <typename Self, typename Type>
concept Is = std::is_same_v<std::remove_const_t<Self>, Type>;

template <Is<Estimate> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("value", self.value);
  visit("low", self.low);
  visit("high", self.high);
}

template <Is<SlowdownStatistics> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("count", self.count);
  visit("p50", self.p50);
  visit("p99", self.p99);
  visit("mean", self.mean);
}

template <Is<SizeBucket> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("smallest_bytes", self.smallest_bytes);
  visit("largest_bytes", self.largest_bytes);
  visit("count_fraction", self.count_fraction);
  visit("slowdown", self.slowdown);
}

template <Is<LatencyPercentiles> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("count", self.count);
  visit("min_us", self.min_us);
  visit("p50_us", self.p50_us);
  visit("p90_us", self.p90_us);
  visit("p99_us", self.p99_us);
  visit("p999_us", self.p999_us);
  visit("max_us", self.max_us);
}

template <Is<Rates> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("offered_gbps", self.offered_gbps);
  visit("goodput_gbps", self.goodput_gbps);
  visit("carried_gbps", self.carried_gbps);
  visit("link_utilisation", self.link_utilisation);
}

template <Is<Backlog> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("slope", self.slope);
  visit("mean_bytes", self.mean_bytes);
  visit("max_bytes", self.max_bytes);
  visit("verdict", self.verdict);
}

template <Is<PortStatistics> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("kind", self.kind);
  visit("ports", self.ports);
  visit("mean_bytes", self.mean_bytes);
  visit("max_bytes", self.max_bytes);
  visit("utilisation", self.utilisation);
  visit("marked", self.marked);
}

template <Is<TrafficStatistics> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("unscheduled_bytes", self.unscheduled_bytes);
  visit("scheduled_bytes", self.scheduled_bytes);
  visit("grant_bytes", self.grant_bytes);
  visit("acknowledgment_bytes", self.acknowledgment_bytes);
  visit("retransmitted_bytes", self.retransmitted_bytes);
  visit("priority_bytes", self.priority_bytes);
}

template <Is<Drops> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("full_buffers", self.full_buffers);
  visit("random_losses", self.random_losses);
}

template <Is<FlowGoodput> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("name", self.name);
  visit("gbps", self.gbps);
  visit("offered_gbps", self.offered_gbps);
}

template <Is<RunCost> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("cpu_seconds", self.cpu_seconds);
  visit("peak_memory_mb", self.peak_memory_mb);
}

template <Is<RunResult> Self, typename Visit>
void visit_fields(Self& self, Visit&& visit) {
  visit("spec", self.spec);
  visit("end", self.end);
  visit("hosts", self.hosts);
  visit("simulated_us", self.simulated_us);
  visit("warm_up_us", self.warm_up_us);
  visit("messages_started", self.messages_started);
  visit("messages_measured", self.messages_measured);
  visit("messages_unfinished", self.messages_unfinished);
  visit("messages_failed", self.messages_failed);
  visit("buckets", self.buckets);
  visit("largest", self.largest);
  visit("all", self.all);
  visit("shortest_half", self.shortest_half);
  visit("latency", self.latency);
  visit("shortest_latency", self.shortest_latency);
  visit("rates", self.rates);
  visit("backlog", self.backlog);
  visit("ports", self.ports);
  visit("traffic", self.traffic);
  visit("drops", self.drops);
  visit("flows", self.flows);
  visit("events", self.events);
  visit("cost", self.cost);
}

nlohmann::json to_json(const RunResult& result) {
  return write_json(result);
}

nlohmann::json deterministic_json(const RunResult& result) {
  nlohmann::json json = write_json(result);
  json.erase("cost");
  return json;
}

Outcome<RunResult> result_from_json(const nlohmann::json& json) {
  RunResult result;
  JsonReader reader;
  reader.read(json, result, "");
  if (!reader.fault().empty()) return Outcome<RunResult>::failure(reader.fault());
  return Outcome<RunResult>::of(std::move(result));
}

const char* to_string(LoadVerdict verdict) {
  return name_of(verdict);
}
const char* to_string(RunEnd end) {
  return name_of(end);
}

}  // namespace homa::simulation
