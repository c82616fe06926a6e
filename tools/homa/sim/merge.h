// From the results in a directory to tables, JSON and pictures.
#pragma once

#include <string>
#include <vector>

#include "sim/report.h"
#include "sim/run_directory.h"

namespace homa::tools::sim {

struct Merged {
  Report report;
  std::string json;                   ///< determined by the specs: the same bytes on every machine
  std::string cost_json;              ///< what is not: computing time and memory, by run
  std::vector<std::string> missing;   ///< runs without a result
  std::vector<std::string> diverged;  ///< runs that ended because their backlog grew without bound
  double cpu_seconds = 0;             ///< of all runs
};

/// Of what is there. Throws Failure when there is nothing at all, or a result cannot be read.
Merged merge(const RunDirectory& directory);
/// Writes results.json, cost.json, report.txt and figures/. Returns what went wrong with the pictures, or nothing.
std::string write_merged(const RunDirectory& directory, const Merged& merged);
/// The tables, with what is missing and what diverged said after them.
std::string to_text(const Merged& merged, std::size_t runs);

}  // namespace homa::tools::sim
