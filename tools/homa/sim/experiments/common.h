// What several experiments share.
#pragma once

#include <string>
#include <vector>

#include "sim/experiment.h"

namespace homa::tools::sim {

inline const std::vector<std::string>& all_workloads() {
  static const std::vector<std::string> names{"w1", "w2", "w3", "w4", "w5"};
  return names;
}

/// Throws Failure for another name.
simulation::RunCarrier carrier_of(const std::string& name);

/// One spec per policy and carrier: those that the user named, or on each carrier its usual one (native homa18,
/// datagram libhoma). Each spec is `base` otherwise.
std::vector<simulation::RunSpec> by_policy(const SweepOptions& options, const simulation::RunSpec& base,
                                           const std::vector<std::string>& usual_carriers);

/// One spec per workload, load, carrier and policy, each with the usual number of messages.
std::vector<simulation::RunSpec> by_workload_and_load(const SweepOptions& options, const simulation::RunSpec& base,
                                                      const std::vector<double>& usual_loads,
                                                      const std::vector<std::string>& usual_workloads,
                                                      const std::vector<std::string>& usual_carriers);

/// "w4" of "w4", "sizes" of "/home/me/sizes.txt".
std::string workload_name(const simulation::RunSpec& spec);
/// "homa18", "libhoma", "oracle"; on the datagram carrier "libhoma, datagram".
std::string policy_name(const simulation::RunSpec& spec);
std::string percent(double part, int digits = 0);
/// The published model: its numbers can be held against ours.
bool is_homa18(const simulation::RunSpec& spec);

/// Of the port kind ("host_down"); zeros when there is no such port.
simulation::PortStatistics port_of(const simulation::RunResult& result, const std::string& kind);
/// Of the flow with this name; zeros when there is none.
simulation::FlowGoodput flow_of(const simulation::RunResult& result, const std::string& name);

/// Cells of slowdown of a point, "1.23 +-0.01", of the shortest half of messages and of all; "-" when none was
/// measured.
std::string half_cell(const Point& point, Statistic statistic);
std::string all_cell(const Point& point, Statistic statistic);
double half_value(const Point& point, Statistic statistic);

}  // namespace homa::tools::sim
