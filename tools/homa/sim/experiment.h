// Named experiments: each is a list of runs, and what is made of their results.
//
// The table of experiments is constant; everything else here are plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/points.h"
#include "sim/published.h"
#include "sim/report.h"
#include "simulation/run_spec.h"

namespace homa::tools::sim {

/// What the user asks an experiment to vary. Empty and 0: what the experiment says.
struct SweepOptions {
  std::vector<std::string> workloads;
  std::vector<double> loads;
  std::vector<std::string> policies;
  std::vector<std::string> carriers;
  std::string topology;
  std::uint32_t hosts = 0;
  std::uint32_t seeds = 0;
  std::uint64_t messages = 0;
  bool quick = false;  ///< a third of the hosts, a tenth of the messages, one seed
};

/// Which of the options vary an experiment; the others are refused.
struct Takes {
  bool workload = false;
  bool load = false;
  bool policy = false;
  bool carrier = false;
  bool topology = true;
  bool size = true;  ///< hosts, messages, quick
};

struct Experiment {
  const char* name;
  const char* summary;  ///< one line
  Takes takes;
  std::uint32_t seeds;
  /// Its runs, without regard to seeds, hosts and messages of the user; those are applied afterwards.
  std::vector<simulation::RunSpec> (*runs)(const SweepOptions& options);
  void (*report)(const std::vector<Point>& points, const Published& published, Report& report);
};

const std::vector<Experiment>& experiments();
/// Throws Failure that lists what there is.
const Experiment& find_experiment(const std::string& name);
/// Every run of the sweep, seeds and all, each with a spec that can be run. Throws Failure for an option that the
/// experiment does not take and for what is wrong in a value, a topology or a workload.
std::vector<simulation::RunSpec> plan_runs(const Experiment& experiment, const SweepOptions& options);

/// The values that the user gave, or those of the experiment.
template <typename T>
std::vector<T> or_default(const std::vector<T>& given, const std::vector<T>& otherwise) {
  return given.empty() ? otherwise : given;
}
/// Messages that give each of a hundred size buckets a thousand, or, where messages are long, less for the time that it
/// takes.
std::uint64_t usual_messages(const std::string& workload);

}  // namespace homa::tools::sim
