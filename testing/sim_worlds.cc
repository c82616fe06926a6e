// homa-sim-worlds: runs random worlds, judges them, replays one with a trace, and proves that the checkers see defects.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string>

#include "protocol/defects.h"
#include "testing/world_runner.h"

namespace {

using namespace homa::sim;

constexpr std::size_t kDefects = static_cast<std::size_t>(homa::protocol::Defect::count_);
struct DefectText {
  const char* name;
  const char* meaning;
};
constexpr std::array<DefectText, kDefects> kDefectTexts{{
#define HOMA_DEFECT_TEXT(name, meaning) {#name, meaning},
    HOMA_DEFECTS(HOMA_DEFECT_TEXT)
#undef HOMA_DEFECT_TEXT
}};

struct Options {
  std::uint64_t seeds = 200;
  std::uint64_t first = 1;
  unsigned jobs = 1;
  std::uint64_t seed = 0;
  bool trace = false;
  std::string defect;
  bool defects_all = false;
};

RunPlan plan_of(const Options& options) {
  RunPlan plan;
  plan.first = options.first;
  plan.seeds = options.seeds;
  plan.jobs = options.jobs;
  plan.progress = isatty(STDERR_FILENO) != 0;
  return plan;
}

std::string knob_names(std::uint32_t knobs) {
  std::string text;
  for (std::size_t knob = 0; knob < kKnobs; ++knob) {
    if (((knobs >> knob) & 1u) != 0) text += fmt::format(" {}", to_string(static_cast<Knob>(knob)));
  }
  return text.empty() ? " none" : text;
}

void print_failure(const WorldReport& report, const std::string& defect) {
  fmt::print("FAILED seed {} [{}] {}\n", report.seed, report.checker.data(), report.message.data());
  fmt::print("  faults:{}\n", knob_names(report.knobs));
  fmt::print("  replay: ./dev sim --seed {} --trace{}\n", report.seed, defect.empty() ? "" : " --defect " + defect);
}

int replay(const Options& options, std::uint32_t defects) {
  const WorldReport report = run_world(options.seed, defects, options.trace ? stdout : nullptr);
  fmt::print("seed {}: faults{}; {} calls ({} ok), {} datagrams ({} dropped), {} events\n", report.seed,
             knob_names(report.knobs), report.calls, report.calls_ok, report.datagrams, report.dropped, report.events);
  if (report.failed) print_failure(report, options.defect);
  return report.failed ? 1 : 0;
}

void print_summary(const Summary& summary) {
  fmt::print(
      "{} worlds in {:.1f} s: {} calls ({} ok), {} datagrams ({} dropped), {} events, core memory at most {} KiB\n",
      summary.worlds, summary.seconds, summary.calls, summary.calls_ok, summary.datagrams, summary.dropped,
      summary.events, summary.peak_core_memory / 1024);
  fmt::print("faults active, percent of the worlds:\n");
  for (std::size_t knob = 0; knob < kKnobs; ++knob) {
    fmt::print("  {:<18} {:5.1f}{}", to_string(static_cast<Knob>(knob)),
               100.0 * static_cast<double>(summary.knob_worlds[knob]) /
                   static_cast<double>(std::max<std::uint64_t>(summary.worlds, 1)),
               knob % 3 == 2 || knob + 1 == kKnobs ? "\n" : "");
  }
}

int run_many(const Options& options, std::uint32_t defects) {
  RunPlan plan = plan_of(options);
  plan.defects = defects;
  const Summary summary = run_worlds(plan);
  print_summary(summary);
  for (const WorldReport& report : summary.failures) print_failure(report, options.defect);
  fmt::print("{} of {} worlds failed\n", summary.failures.size(), summary.worlds);
  return summary.failures.empty() ? 0 : 1;
}

int run_defects(const Options& options) {
  fmt::print("{:<26} {:>8}  {:<28} {}\n", "planted defect", "seed", "caught by", "meaning");
  std::fflush(stdout);
  std::size_t missed = 0;
  for (std::size_t defect = 0; defect < kDefects; ++defect) {
    RunPlan plan = plan_of(options);
    plan.defects = 1u << defect;
    plan.stop_after_failures = 1;
    const Summary summary = run_worlds(plan);
    const DefectText& text = kDefectTexts[defect];
    if (summary.failures.empty()) {
      ++missed;
      fmt::print("{:<26} {:>8}  {:<28} {}\n", text.name, "-", "NOT CAUGHT", text.meaning);
    } else {
      const WorldReport& report = summary.failures.front();
      fmt::print("{:<26} {:>8}  {:<28} {}\n", text.name, report.seed, report.checker.data(), text.meaning);
    }
    std::fflush(stdout);
  }
  fmt::print("{} of {} planted defects caught\n", kDefects - missed, kDefects);
  return missed == 0 ? 0 : 1;
}

bool defect_bits(const std::string& name, std::uint32_t* bits) {
  *bits = 0;
  if (name.empty()) return true;
  for (std::size_t i = 0; i < kDefects; ++i) {
    if (name == kDefectTexts[i].name) *bits = 1u << i;
  }
  if (*bits != 0) return true;
  fmt::print(stderr, "no planted defect is called \"{}\"; there are:\n", name);
  for (const DefectText& text : kDefectTexts) fmt::print(stderr, "  {:<26} {}\n", text.name, text.meaning);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // a worker whose reader is gone ends by itself
  Options options;
  CLI::App app("Runs random simulated worlds of the protocol core and judges every one.", "homa-sim-worlds");
  app.add_option("--seeds", options.seeds, "How many worlds")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--first", options.first, "Seed of the first one")->capture_default_str();
  app.add_option("--jobs", options.jobs, "Worlds at a time")->check(CLI::Range(1, 256))->capture_default_str();
  CLI::Option* seed = app.add_option("--seed", options.seed, "Runs this one world only");
  app.add_flag("--trace", options.trace, "With --seed: prints every packet and decision")->needs(seed);
  app.add_option("--defect", options.defect, "Plants this defect in every endpoint");
  app.add_flag("--defects-all", options.defects_all, "For each planted defect, runs worlds until one catches it");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  std::uint32_t defects = 0;
  if (!defect_bits(options.defect, &defects)) return 2;
  if (options.defects_all) return run_defects(options);
  return seed->count() > 0 ? replay(options, defects) : run_many(options, defects);
}
