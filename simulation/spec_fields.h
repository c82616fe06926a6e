// The fields of a RunSpec by name, for JSON.
#pragma once

#include <array>
#include <utility>

#include "simulation/json_fields.h"
#include "simulation/run_spec.h"

namespace homa::simulation {

template <>
struct EnumNames<RunCarrier> {
  static constexpr std::array<std::pair<RunCarrier, const char*>, 2> kNames{
      {{RunCarrier::native, "native"}, {RunCarrier::datagram, "datagram"}}};
};
template <>
struct EnumNames<LoadKind> {
  static constexpr std::array<std::pair<LoadKind, const char*>, 2> kNames{
      {{LoadKind::total, "total"}, {LoadKind::application, "application"}}};
};
template <>
struct EnumNames<Generator> {
  static constexpr std::array<std::pair<Generator, const char*>, 4> kNames{
      {{Generator::poisson_one_way, "poisson_one_way"},
       {Generator::request_response, "request_response"},
       {Generator::incast, "incast"},
       {Generator::victim, "victim"}}};
};

template <typename Self, typename Visit>
requires std::is_same_v<std::remove_const_t<Self>, RunSpec>
void visit_fields(Self& self, Visit&& visit) {
  visit("topology", self.topology);
  visit("hosts", self.hosts);
  visit("carrier", self.carrier);
  visit("workload", self.workload);
  visit("load", self.load);
  visit("load_kind", self.load_kind);
  visit("generator", self.generator);
  visit("policy", self.policy);
  visit("overcommitment", self.overcommitment);
  visit("scheduled_levels", self.scheduled_levels);
  visit("priority_levels", self.priority_levels);
  visit("unscheduled_bytes", self.unscheduled_bytes);
  visit("incast_control", self.incast_control);
  visit("loss_rate", self.loss_rate);
  visit("ecn_threshold_bytes", self.ecn_threshold_bytes);
  visit("incast_width", self.incast_width);
  visit("incast_response_bytes", self.incast_response_bytes);
  visit("seed", self.seed);
  visit("messages", self.messages);
  visit("duration_us", self.duration_us);
  visit("warm_up_us", self.warm_up_us);
  visit("watched_relaxations", self.watched_relaxations);
  visit("buckets", self.buckets);
}

}  // namespace homa::simulation
