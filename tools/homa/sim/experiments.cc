#include <algorithm>

#include <fmt/format.h>

#include "failure.h"
#include "sim/experiment.h"
#include "sim/experiments/all.h"
#include "simulation/topology.h"
#include "simulation/workload.h"

namespace homa::tools::sim {
namespace {

constexpr std::uint32_t kQuickHosts = 48;
constexpr std::uint64_t kQuickPart = 10;

void refuse(bool given, bool taken, const char* option, const Experiment& experiment) {
  if (!given || taken) return;
  throw usage_failure(
      fmt::format("experiment {} has no {}; 'homa sim list' says what each varies", experiment.name, option));
}

void check_options(const Experiment& experiment, const SweepOptions& options) {
  const Takes& takes = experiment.takes;
  refuse(!options.workloads.empty(), takes.workload, "--workload", experiment);
  refuse(!options.loads.empty(), takes.load, "--load", experiment);
  refuse(!options.policies.empty(), takes.policy, "--policy", experiment);
  refuse(!options.carriers.empty(), takes.carrier, "--carrier", experiment);
  refuse(!options.topology.empty(), takes.topology, "--topology", experiment);
  refuse(options.hosts != 0, takes.size, "--hosts", experiment);
  refuse(options.messages != 0, takes.size, "--messages", experiment);
  refuse(options.quick, takes.size, "--quick", experiment);
  for (const double load : options.loads) {
    if (!(load > 0 && load <= 1)) {
      throw usage_failure(
          fmt::format("--load {} is not above 0 and at most 1: it is a part of the host links, 0.8 for 80 %", load));
    }
  }
}

void apply(const SweepOptions& options, simulation::RunSpec& spec) {
  if (!options.topology.empty()) spec.topology = options.topology;
  if (options.quick) {
    if (options.topology.empty() && spec.hosts == 0) spec.hosts = kQuickHosts;
    spec.messages = std::max<std::uint64_t>(spec.messages / kQuickPart, 1000);
  }
  if (options.hosts != 0) spec.hosts = options.hosts;
  if (options.messages != 0) spec.messages = options.messages;
}

/// Before anything is computed.
void check(const simulation::RunSpec& spec) {
  if (const std::string fault = simulation::fault_of(spec); !fault.empty()) throw usage_failure(fault);
  auto topology = simulation::load_topology(spec.topology);
  if (topology && spec.hosts != 0) topology = simulation::with_hosts(*topology, spec.hosts);
  if (!topology) throw usage_failure(topology.error);
  const auto workload = simulation::Workload::load(spec.workload);
  if (!workload) throw usage_failure(workload.error);
}

}  // namespace

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> table{
      homa18_slowdown(), homa18_load(), homa18_queues(), homa18_priorities(), carriers(),
      incast(),          loss(),        victim(),        oversubscription(),  smoke(),
  };
  return table;
}

const Experiment& find_experiment(const std::string& name) {
  std::string names;
  for (const Experiment& experiment : experiments()) {
    if (experiment.name == name) return experiment;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", experiment.name);
  }
  throw usage_failure(fmt::format("unknown experiment '{}'; there are {}", name, names));
}

std::vector<simulation::RunSpec> plan_runs(const Experiment& experiment, const SweepOptions& options) {
  check_options(experiment, options);
  const std::uint32_t seeds = options.seeds != 0 ? options.seeds : options.quick ? 1 : experiment.seeds;
  std::vector<simulation::RunSpec> runs;
  for (simulation::RunSpec spec : experiment.runs(options)) {
    apply(options, spec);
    check(spec);
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
      spec.seed = seed;
      runs.push_back(spec);
    }
  }
  return runs;
}

std::uint64_t usual_messages(const std::string& workload) {
  constexpr double kBytes = 60e9;  // of messages: about two minutes of computing
  constexpr double kPerMessage = 1500;
  const auto sizes = simulation::Workload::load(workload);
  if (!sizes) throw usage_failure(sizes.error);
  const double wanted = kBytes / (sizes->mean() + kPerMessage);
  constexpr double kStep = 10000;
  return static_cast<std::uint64_t>(std::clamp(std::floor(wanted / kStep) * kStep, 35000.0, 500000.0));
}

}  // namespace homa::tools::sim
