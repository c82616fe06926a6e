// The directory of a sweep, which everything that takes part in it shares:
//
//   plan.json           the experiment and the names of its runs
//   commands.txt        one command per run, for GNU parallel, or a job array
//   specs/NAME.json     what a run is
//   results/NAME.json   what it found; appears when it is whole, never in parts
//
// and what merging leaves: results.json, cost.json, report.txt, figures/. Several processes, on several machines, may
// work in one directory at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "simulation/run_result.h"

namespace homa::tools::sim {

/// "003-w4-80-homa18-native-s1": unique by its number, readable by the rest.
std::string name_of_run(std::size_t number, const simulation::RunSpec& spec);

class RunDirectory {
 public:
  /// Writes the plan. What is there of the same experiment is kept. Throws Failure when another experiment is there, or
  /// the directory cannot be written.
  static RunDirectory plan(const std::filesystem::path& folder, const std::string& experiment,
                           const std::vector<simulation::RunSpec>& specs);
  /// Throws Failure when there is no plan.
  static RunDirectory open(const std::filesystem::path& folder);

  const std::string& experiment() const { return experiment_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::size_t size() const { return names_.size(); }
  const std::string& name(std::size_t run) const { return names_[run]; }
  std::filesystem::path spec_file(std::size_t run) const { return folder_ / "specs" / (names_[run] + ".json"); }
  std::filesystem::path result_file(std::size_t run) const { return folder_ / "results" / (names_[run] + ".json"); }
  simulation::RunSpec spec(std::size_t run) const;

  /// Nothing when the run has not ended, or its result is of another spec.
  std::optional<simulation::RunResult> result(std::size_t run) const;
  std::vector<std::size_t> unfinished() const;

 private:
  std::filesystem::path folder_;
  std::string experiment_;
  std::vector<std::string> names_;
};

/// Throw Failure that names the file and what is wrong in it.
nlohmann::json read_json(const std::filesystem::path& file);
simulation::RunSpec read_spec(const std::filesystem::path& file);
/// Readers see the old content or the new, never parts.
void write_whole(const std::filesystem::path& file, const std::string& text);

}  // namespace homa::tools::sim
