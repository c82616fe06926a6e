// `homa sim`: list, run, plan, worker, merge, one.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "command.h"
#include "failure.h"
#include "parse.h"
#include "signals.h"
#include "sim/experiment.h"
#include "sim/merge.h"
#include "sim/rank.h"
#include "sim/sweep.h"
#include "sim/sweep_estimate.h"

namespace homa::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples =
    "Examples:\n"
    "  homa sim list\n"
    "  homa sim run homa18-slowdown --workload w4 --load 0.8 --jobs 2\n"
    "  homa sim run homa18-slowdown --quick --out quick\n"
    "  homa sim plan homa18-load --out load && parallel < load/commands.txt && homa sim merge load\n"
    "  homa sim plan homa18-load --out load && mpirun -n 64 homa sim worker load && homa sim merge load\n"
    "\n"
    "A sweep lives in its --out directory: stopped by Ctrl-C and started again it goes on where it was.\n"
    "Exit codes: 0 done, 1 a run failed, was stopped, or left its band (smoke), 2 wrong use or input.";

struct SweepArguments {
  std::string experiment;
  std::string out;
  std::size_t jobs = 1;
  std::string messages;
  bool json = false;
  sim::SweepOptions options;
};

/// A file by its whole path: a run may start in another directory. A name of ours, or a number, stays as it is.
std::string with_whole_path(const std::string& name) {
  std::error_code error;
  return fs::is_regular_file(name, error) ? fs::absolute(name).lexically_normal().string() : name;
}

sim::RunDirectory make_plan(SweepArguments& arguments) {
  sim::SweepOptions& options = arguments.options;
  if (!arguments.messages.empty()) {
    options.messages = require_size("--messages", arguments.messages);
    if (options.messages == 0) throw usage_failure("--messages must be at least 1");
  }
  if (!options.topology.empty()) options.topology = with_whole_path(options.topology);
  for (std::string& workload : options.workloads) workload = with_whole_path(workload);
  const sim::Experiment& experiment = sim::find_experiment(arguments.experiment);
  const auto runs = sim::plan_runs(experiment, options);
  const fs::path out = arguments.out.empty() ? fs::path("homa-sim") / experiment.name : fs::path(arguments.out);
  return sim::RunDirectory::plan(out, experiment.name, runs);
}

int show_merged(const sim::RunDirectory& directory, bool json) {
  const sim::Merged merged = sim::merge(directory);
  const std::string fault = sim::write_merged(directory, merged);
  fmt::print("{}", json ? merged.json : to_text(merged, directory.size()));
  if (!json) {
    fmt::print("{:.0f} s of computing; tables, results.json and figures/ are in {}\n", merged.cpu_seconds,
               directory.folder().string());
  }
  if (!fault.empty()) fmt::print(stderr, "homa sim: no pictures: {}\n", fault);
  if (!merged.missing.empty() || (merged.report.is_test && !merged.report.all_met())) return kExitFailed;
  return kExitDone;
}

/// Runs what is missing. Throws Failure for what went wrong, when everything that could be run has been.
void run_missing(const sim::RunDirectory& directory, const std::vector<std::size_t>& missing, std::size_t jobs) {
  const sim::SweepOutcome outcome = sim::run_sweep(directory, missing, jobs, stop_requested());
  if (outcome.is_stopped) {
    throw Failure(fmt::format("stopped with {} of {} runs done, which are kept; the same command goes on from there",
                              directory.size() - directory.unfinished().size(), directory.size()));
  }
  if (outcome.failures.empty()) return;
  std::string text = outcome.failures.front();
  if (outcome.failures.size() > 1) text += fmt::format(" (and {} more runs failed)", outcome.failures.size() - 1);
  throw Failure(text);
}

int sim_run(SweepArguments& arguments) {
  const sim::RunDirectory directory = make_plan(arguments);
  const auto missing = directory.unfinished();
  if (missing.size() < directory.size()) {
    fmt::print(stderr, "homa sim: {} of {} runs are in {} already\n", directory.size() - missing.size(),
               directory.size(), directory.folder().string());
  }
  run_missing(directory, missing, arguments.jobs);
  return show_merged(directory, arguments.json);
}

int sim_plan(SweepArguments& arguments) {
  const sim::RunDirectory directory = make_plan(arguments);
  const std::string folder = directory.folder().string();
  fmt::print(
      "{} runs in {}; run them with one of\n  parallel < {}/commands.txt\n  mpirun -n 8 homa sim worker {}\nand then\n"
      "  homa sim merge {}\n",
      directory.size(), folder, folder, folder, folder);
  return kExitDone;
}

struct WorkerArguments {
  std::string folder;
  std::optional<std::size_t> rank;
  std::optional<std::size_t> of;
};

int sim_worker(const WorkerArguments& arguments) {
  const sim::RunDirectory directory = sim::RunDirectory::open(arguments.folder);
  if (arguments.rank.has_value() != arguments.of.has_value()) throw usage_failure("--rank and --of belong together");
  sim::Rank rank;
  if (arguments.rank) {
    rank = {*arguments.rank, *arguments.of};
    if (rank.index >= rank.of) throw usage_failure(fmt::format("--rank {} is not below --of {}", rank.index, rank.of));
  } else if (const auto launched = sim::rank_of_launcher([](const char* name) { return std::getenv(name); })) {
    rank = *launched;
  }
  std::vector<std::size_t> missing;
  for (const std::size_t run : sim::share_of(rank, directory.size())) {
    if (!directory.result(run)) missing.push_back(run);
  }
  run_missing(directory, missing, 1);
  fmt::print("worker {} of {}: {} runs done\n", rank.index, rank.of, missing.size());
  return kExitDone;
}

int sim_list() {
  for (const sim::Experiment& experiment : sim::experiments()) {
    const auto runs = sim::plan_runs(experiment, {});
    std::string varies;
    const sim::Takes& takes = experiment.takes;
    for (const auto& [taken, option] :
         {std::pair{takes.workload, "--workload"}, std::pair{takes.load, "--load"}, std::pair{takes.policy, "--policy"},
          std::pair{takes.carrier, "--carrier"}, std::pair{takes.topology, "--topology"},
          std::pair{takes.size, "--hosts --messages --quick"}}) {
      if (taken) varies += std::string(" ") + option;
    }
    fmt::print("{}\n  {}\n  {} runs; options: --seeds{}\n", experiment.name, experiment.summary, runs.size(), varies);
  }
  return kExitDone;
}

void add_sweep_options(CLI::App& command, SweepArguments& arguments) {
  sim::SweepOptions& options = arguments.options;
  command.add_option("experiment", arguments.experiment, "its name; 'homa sim list' describes all")->required();
  command.add_option("--workload", options.workloads, "w1 .. w5, size files, or numbers of bytes");
  command.add_option("--load", options.loads, "parts of the host links' rate, such as 0.8");
  command.add_option("--policy", options.policies, "homa18 (as published), libhoma (the product's) or oracle (ideal)");
  command.add_option("--carrier", options.carriers, "native or datagram");
  const auto topology = command.add_option("--topology", options.topology, "a file, or a name from data/simulation");
  (void)topology;
  command.add_option("--hosts", options.hosts, "hosts, by more or fewer leaves of the same size");
  command.add_option("--seeds", options.seeds, "runs of each point that differ in their random numbers only")
      ->check(CLI::Range(1, 1000));
  command.add_option("--messages", arguments.messages, "measured in each run (200k)");
  command.add_flag("--quick", options.quick, "fewer hosts, a tenth of the messages, one seed: a first look");
  command.add_option("--out", arguments.out, "directory of the sweep [homa-sim/EXPERIMENT]");
}

void add_run(CLI::App& sim, Action& action) {
  const auto arguments = std::make_shared<SweepArguments>();
  arguments->jobs = std::max(1u, std::thread::hardware_concurrency());
  CLI::App* run = sim.add_subcommand("run", "an experiment, on this machine");
  add_sweep_options(*run, *arguments);
  run->add_option("--jobs", arguments->jobs, "runs at a time")->check(CLI::Range(1, 4096))->capture_default_str();
  run->add_flag("--json", arguments->json, "results.json on standard output instead of tables");
  run->footer(kExamples);
  run->callback([=, &action] { action = [=] { return sim_run(*arguments); }; });
}

void add_plan(CLI::App& sim, Action& action) {
  const auto arguments = std::make_shared<SweepArguments>();
  CLI::App* plan = sim.add_subcommand("plan", "the runs of an experiment as files and commands, for many machines");
  add_sweep_options(*plan, *arguments);
  plan->footer(kExamples);
  plan->callback([=, &action] { action = [=] { return sim_plan(*arguments); }; });
}

void add_worker(CLI::App& sim, Action& action) {
  const auto arguments = std::make_shared<WorkerArguments>();
  CLI::App* worker = sim.add_subcommand("worker", "this rank's share of a plan: under mpirun, srun or in a job array");
  worker->add_option("directory", arguments->folder, "of homa sim plan")->required();
  worker->add_option("--rank", arguments->rank, "instead of what the launcher's environment says");
  worker->add_option("--of", arguments->of, "workers in all, with --rank");
  worker->footer("Example:\n  mpirun -n 8 homa sim worker load");
  worker->callback([=, &action] { action = [=] { return sim_worker(*arguments); }; });
}

void add_merge(CLI::App& sim, Action& action) {
  const auto folder = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  CLI::App* merge = sim.add_subcommand("merge", "tables, JSON and pictures from the results in a directory");
  merge->add_option("directory", *folder, "of homa sim plan or run")->required();
  merge->add_flag("--json", *json, "results.json on standard output instead of tables");
  merge->footer("Example:\n  homa sim merge load");
  merge->callback([=, &action] { action = [=] { return show_merged(sim::RunDirectory::open(*folder), *json); }; });
}

void add_one(CLI::App& sim, Action& action) {
  const auto spec = std::make_shared<std::string>();
  const auto result = std::make_shared<std::string>();
  const auto lines = std::make_shared<bool>(false);
  CLI::App* one = sim.add_subcommand("one", "one run by its spec file");
  one->add_option("spec", *spec, "a JSON file, as in DIR/specs")->required();
  one->add_option("-o,--out", *result, "file for the result [standard output]");
  one->add_flag("--progress-lines", *lines, "progress as lines on standard output, for programs");
  one->footer("Example:\n  homa sim one specs/001-w4-80-homa18-native-s1.json -o result.json");
  one->callback([=, &action] {
    action = [=] {
      sim::run_one(*spec, *result, *lines, stop_requested());
      return kExitDone;
    };
  });
}

}  // namespace

void add_sim(CLI::App& app, Action& action) {
  CLI::App* sim = app.add_subcommand("sim", "simulate clusters of hundreds of hosts, beside published results");
  sim->require_subcommand(1);
  sim->footer(kExamples);
  add_run(*sim, action);
  CLI::App* list = sim->add_subcommand("list", "the experiments");
  list->footer("Example:\n  homa sim list");
  list->callback([&action] { action = sim_list; });
  add_plan(*sim, action);
  add_worker(*sim, action);
  add_merge(*sim, action);
  add_one(*sim, action);
}

}  // namespace homa::tools
