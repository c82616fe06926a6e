// Runs what a directory plans and does not have yet, each run as a process of its own.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "sim/run_directory.h"

namespace homa::tools::sim {

struct SweepOutcome {
  std::size_t done = 0;
  std::vector<std::string> failures;  ///< one line each
  bool is_stopped = false;            ///< by the user
};

/// `jobs` at a time, of `runs` (numbers of the directory). Progress goes to standard error: a line that is drawn anew
/// on a terminal, else a line per run once two seconds have passed.
SweepOutcome run_sweep(const RunDirectory& directory, const std::vector<std::size_t>& runs, std::size_t jobs,
                       const std::atomic<bool>& stop);

/// What a child does: `homa sim one`. Writes progress as lines of "progress 0.25" when `report_lines` is set. Throws
/// Failure.
void run_one(const std::filesystem::path& spec, const std::filesystem::path& result, bool report_lines,
             const std::atomic<bool>& stop);

}  // namespace homa::tools::sim
