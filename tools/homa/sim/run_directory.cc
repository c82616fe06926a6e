#include "sim/run_directory.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "failure.h"

namespace homa::tools::sim {
namespace {

namespace fs = std::filesystem;

/// For sh: in single quotes.
std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw usage_failure(fmt::format("cannot make {}: {}", folder.string(), error.message()));
}

void refuse_other_experiment(const fs::path& plan, const std::string& experiment) {
  if (!fs::exists(plan)) return;
  const std::string there = read_json(plan).value("experiment", "");
  if (there != experiment) {
    throw usage_failure(
        fmt::format("{} belongs to experiment {}; choose another --out", plan.parent_path().string(), there));
  }
}

}  // namespace

std::string name_of_run(std::size_t number, const simulation::RunSpec& spec) {
  const std::string workload = fs::path(spec.workload).stem().string();
  const std::string subject =
      spec.generator == simulation::Generator::incast ? fmt::format("incast{}", spec.incast_width) : workload;
  std::string name = fmt::format("{:03}-{}-{}-{}-{}-s{}", number, subject, std::lround(spec.load * 100), spec.policy,
                                 simulation::to_string(spec.carrier), spec.seed);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.') c = '-';
  }
  return name;
}

nlohmann::json read_json(const fs::path& file) {
  std::ifstream input(file);
  std::stringstream text;
  if (!input || !(text << input.rdbuf())) {
    throw usage_failure(fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
  }
  try {
    return nlohmann::json::parse(text.str());
  } catch (const nlohmann::json::parse_error& error) {
    const std::string before = text.str().substr(0, error.byte);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    throw usage_failure(
        fmt::format("{}:{}: no JSON; remove it, and the command that made it makes it again", file.string(), line));
  }
}

simulation::RunSpec read_spec(const fs::path& file) {
  auto spec = simulation::spec_from_json(read_json(file));
  if (!spec) throw usage_failure(fmt::format("{}: {}", file.string(), spec.error));
  return *spec;
}

void write_whole(const fs::path& file, const std::string& text) {
  const fs::path draft = file.string() + fmt::format(".{}.draft", ::getpid());
  std::ofstream output(draft);
  output << text;
  output.close();
  std::error_code error;
  if (output) fs::rename(draft, file, error);
  if (!output || error) {
    throw usage_failure(
        fmt::format("cannot write {}: {}", file.string(), error ? error.message() : std::strerror(errno)));
  }
}

RunDirectory RunDirectory::plan(const fs::path& folder, const std::string& experiment,
                                const std::vector<simulation::RunSpec>& specs) {
  make_folder(folder / "specs");
  make_folder(folder / "results");
  refuse_other_experiment(folder / "plan.json", experiment);
  RunDirectory directory;
  directory.folder_ = fs::absolute(folder).lexically_normal();
  directory.experiment_ = experiment;
  std::string commands;
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    directory.names_.push_back(name_of_run(i + 1, specs[i]));
    write_whole(directory.spec_file(i), simulation::to_json(specs[i]).dump(2) + "\n");
    commands +=
        fmt::format("{} sim one {} -o {}\n", shell_quoted(program), shell_quoted(directory.spec_file(i).string()),
                    shell_quoted(directory.result_file(i).string()));
  }
  write_whole(directory.folder_ / "commands.txt", commands);
  const nlohmann::json plan{{"experiment", experiment}, {"runs", directory.names_}};
  write_whole(directory.folder_ / "plan.json", plan.dump(2) + "\n");
  return directory;
}

RunDirectory RunDirectory::open(const fs::path& folder) {
  const fs::path file = folder / "plan.json";
  if (!fs::exists(file)) {
    throw usage_failure(
        fmt::format("no plan in {}; make one: homa sim plan EXPERIMENT --out {}", folder.string(), folder.string()));
  }
  const nlohmann::json plan = read_json(file);
  RunDirectory directory;
  directory.folder_ = fs::absolute(folder).lexically_normal();
  try {
    plan.at("experiment").get_to(directory.experiment_);
    plan.at("runs").get_to(directory.names_);
  } catch (const nlohmann::json::exception&) {
    throw usage_failure(fmt::format("{} is no plan; make it anew with homa sim plan", file.string()));
  }
  return directory;
}

simulation::RunSpec RunDirectory::spec(std::size_t run) const {
  return read_spec(spec_file(run));
}

std::optional<simulation::RunResult> RunDirectory::result(std::size_t run) const {
  const fs::path file = result_file(run);
  if (!fs::exists(file)) return std::nullopt;
  auto result = simulation::result_from_json(read_json(file));
  if (!result) throw usage_failure(fmt::format("{}: {}; delete it to run it again", file.string(), result.error));
  if (simulation::to_json(result->spec) != simulation::to_json(spec(run))) return std::nullopt;
  return *result;
}

std::vector<std::size_t> RunDirectory::unfinished() const {
  std::vector<std::size_t> runs;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!result(i)) runs.push_back(i);
  }
  return runs;
}

}  // namespace homa::tools::sim
