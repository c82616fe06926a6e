#include "simulation/run.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <memory>

#include "simulation/simulation.h"

namespace homa::simulation {
namespace {

double cpu_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

Outcome<RunResult> run(const RunSpec& spec, const ProgressCallback& progress) {
  using Failure = Outcome<RunResult>;
  if (const std::string fault = fault_of(spec); !fault.empty()) return Failure::failure(fault);
  Outcome<Topology> topology = load_topology(spec.topology);
  if (topology && spec.hosts != 0) topology = with_hosts(*topology, spec.hosts);
  if (!topology) return Failure::failure(topology.error);
  Outcome<Workload> workload = Workload::load(spec.workload);
  if (!workload) return Failure::failure(workload.error);
  if (spec.ecn_threshold_bytes != 0) topology->ecn_threshold_bytes = spec.ecn_threshold_bytes;

  if (spec.generator == Generator::victim && (topology->pods * topology->leaves < 2 || topology->hosts_per_leaf < 2)) {
    return Failure::failure(spec.topology + ": generator victim needs two leaves of two hosts at least");
  }

  const double before = cpu_seconds();
  Simulation simulation(spec, *topology, *workload);
  RunResult result = simulation.run(progress);
  result.cost.cpu_seconds = cpu_seconds() - before;
  result.cost.peak_memory_mb = peak_memory_mb();
  return Outcome<RunResult>::of(std::move(result));
}

}  // namespace homa::simulation
