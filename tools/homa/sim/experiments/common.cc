#include "sim/experiments/common.h"

#include <filesystem>

#include <fmt/format.h>

#include "failure.h"

namespace homa::tools::sim {

simulation::RunCarrier carrier_of(const std::string& name) {
  for (const auto carrier : {simulation::RunCarrier::native, simulation::RunCarrier::datagram}) {
    if (name == simulation::to_string(carrier)) return carrier;
  }
  throw usage_failure(fmt::format("unknown carrier '{}'; there are native and datagram", name));
}

std::vector<simulation::RunSpec> by_policy(const SweepOptions& options, const simulation::RunSpec& base,
                                           const std::vector<std::string>& usual_carriers) {
  std::vector<simulation::RunSpec> specs;
  for (const std::string& carrier : or_default(options.carriers, usual_carriers)) {
    simulation::RunSpec spec = base;
    spec.carrier = carrier_of(carrier);
    const std::string usual = spec.carrier == simulation::RunCarrier::native ? "homa18" : "libhoma";
    for (const std::string& policy : or_default(options.policies, {usual})) {
      spec.policy = policy;
      specs.push_back(spec);
    }
  }
  return specs;
}

std::vector<simulation::RunSpec> by_workload_and_load(const SweepOptions& options, const simulation::RunSpec& base,
                                                      const std::vector<double>& usual_loads,
                                                      const std::vector<std::string>& usual_workloads,
                                                      const std::vector<std::string>& usual_carriers) {
  std::vector<simulation::RunSpec> specs;
  for (const std::string& workload : or_default(options.workloads, usual_workloads)) {
    for (const double load : or_default(options.loads, usual_loads)) {
      simulation::RunSpec spec = base;
      spec.workload = workload;
      spec.load = load;
      spec.messages = usual_messages(workload);
      for (const simulation::RunSpec& one : by_policy(options, spec, usual_carriers)) specs.push_back(one);
    }
  }
  return specs;
}

std::string workload_name(const simulation::RunSpec& spec) {
  return std::filesystem::path(spec.workload).stem().string();
}

std::string policy_name(const simulation::RunSpec& spec) {
  return spec.carrier == simulation::RunCarrier::native ? spec.policy : spec.policy + ", datagram";
}

std::string percent(double part, int digits) {
  return fmt::format("{:.{}f} %", 100 * part, digits);
}

bool is_homa18(const simulation::RunSpec& spec) {
  constexpr std::uint32_t kHosts = 144;
  return spec.policy == "homa18" && spec.carrier == simulation::RunCarrier::native && spec.topology == "homa18" &&
         (spec.hosts == 0 || spec.hosts == kHosts) && spec.load_kind == simulation::LoadKind::total &&
         spec.overcommitment == 0 && spec.scheduled_levels == 0 && spec.priority_levels == 8 &&
         spec.unscheduled_bytes == 0;
}

simulation::PortStatistics port_of(const simulation::RunResult& result, const std::string& kind) {
  for (const simulation::PortStatistics& port : result.ports) {
    if (port.kind == kind) return port;
  }
  return {};
}

simulation::FlowGoodput flow_of(const simulation::RunResult& result, const std::string& name) {
  for (const simulation::FlowGoodput& flow : result.flows) {
    if (flow.name == name) return flow;
  }
  return {};
}

std::string half_cell(const Point& point, Statistic statistic) {
  const auto half =
      number_over_seeds(point, [=](const simulation::RunResult& run) { return of_shortest_half(run, statistic); });
  return half.value > 0 ? with_interval(half) : "-";
}

std::string all_cell(const Point& point, Statistic statistic) {
  const auto all = over_seeds(point, [=](const simulation::RunResult& run) { return of(run.all, statistic); });
  return all.value > 0 ? with_interval(all) : "-";
}

double half_value(const Point& point, Statistic statistic) {
  return number_over_seeds(point, [=](const simulation::RunResult& run) { return of_shortest_half(run, statistic); })
      .value;
}

}  // namespace homa::tools::sim
