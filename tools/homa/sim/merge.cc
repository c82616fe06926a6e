#include "sim/merge.h"

#include <fmt/format.h>

#include "failure.h"
#include "sim/experiment.h"

namespace homa::tools::sim {
namespace {

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNamed = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNamed) text += fmt::format(" and {} more", names.size() - kMostNamed);
  return text;
}

}  // namespace

Merged merge(const RunDirectory& directory) {
  Merged merged;
  std::vector<simulation::RunResult> results;
  nlohmann::json runs = nlohmann::json::array();
  nlohmann::json costs = nlohmann::json::object();
  for (std::size_t i = 0; i < directory.size(); ++i) {
    const auto result = directory.result(i);
    if (!result) {
      merged.missing.push_back(directory.name(i));
      continue;
    }
    if (result->end == simulation::RunEnd::diverged) merged.diverged.push_back(directory.name(i));
    results.push_back(*result);
    runs.push_back(simulation::deterministic_json(*result));
    costs[directory.name(i)] = simulation::to_json(*result).at("cost");
    merged.cpu_seconds += result->cost.cpu_seconds;
  }
  if (results.empty()) {
    throw Failure(fmt::format("no run of {} has ended yet; homa sim worker {} runs them", directory.folder().string(),
                              directory.folder().string()));
  }
  const Experiment& experiment = find_experiment(directory.experiment());
  experiment.report(join_seeds(results), Published::load(), merged.report);
  const nlohmann::json whole{{"experiment", directory.experiment()},
                             {"missing", merged.missing},
                             {"checks", checks_to_json(merged.report)},
                             {"runs", runs}};
  merged.json = whole.dump(1) + "\n";
  merged.cost_json = costs.dump(1) + "\n";
  return merged;
}

std::string to_text(const Merged& merged, std::size_t runs) {
  std::string text = to_text(merged.report);
  if (!merged.diverged.empty()) {
    text += fmt::format(
        "{} of {} runs diverged: their backlog grew without bound, and what they measured is of a network "
        "that is overloaded: {}\n",
        merged.diverged.size(), runs, joined(merged.diverged));
  }
  if (!merged.missing.empty()) {
    text +=
        fmt::format("incomplete: {} of {} runs are missing: {}\n", merged.missing.size(), runs, joined(merged.missing));
  }
  return text;
}

std::string write_merged(const RunDirectory& directory, const Merged& merged) {
  const std::filesystem::path& folder = directory.folder();
  write_whole(folder / "results.json", merged.json);
  write_whole(folder / "cost.json", merged.cost_json);
  write_whole(folder / "report.txt", to_text(merged, directory.size()));
  const std::filesystem::path figures = folder / "figures";
  std::error_code error;
  std::filesystem::create_directories(figures, error);
  if (error) throw usage_failure(fmt::format("cannot make {}: {}", figures.string(), error.message()));
  for (const Figure& figure : merged.report.figures) {
    if (std::string fault = draw(figure, figures); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace homa::tools::sim
