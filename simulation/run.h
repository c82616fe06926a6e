// Runs one simulation to its end, in the caller's thread.
#pragma once

#include <cstdint>
#include <functional>

#include "simulation/outcome.h"
#include "simulation/run_result.h"
#include "simulation/run_spec.h"

namespace homa::simulation {

struct Progress {
  double virtual_us = 0;
  double virtual_us_total = 0;      ///< as estimated from load and messages wanted
  std::uint64_t messages_done = 0;  ///< measured ones
  std::uint64_t messages_total = 0;
  std::uint64_t events = 0;
};

/// Called a few times per second of computing at most. False: stop, with what there is (RunEnd::stopped).
using ProgressCallback = std::function<bool(const Progress&)>;

/// `progress` may be empty. An error names what is wrong with the spec, its topology file (file:line) or its workload.
/// Whatever the callback does, it does not change the result, unless it stops the run.
Outcome<RunResult> run(const RunSpec& spec, const ProgressCallback& progress);

}  // namespace homa::simulation
