#include "sim/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "failure.h"
#include "progress.h"
#include "sim/process.h"
#include "sim/sweep_estimate.h"
#include "simulation/run.h"

namespace homa::tools::sim {
namespace {

constexpr const char* kProgressWord = "progress ";
constexpr Duration kRefresh = 250ms;
constexpr Duration kQuiet = 2s;

/// The live line, or plain lines where nobody looks at a terminal.
class SweepProgress {
 public:
  SweepProgress(std::size_t total, SweepEstimate& estimate) : total_(total), estimate_(estimate) {}

  void tick(std::size_t done, std::size_t running) {
    if (live_.due()) live_.show(text(done) + fmt::format(", {} running", running));
  }
  void ended(std::size_t done, const std::string& name) {
    if (::isatty(STDERR_FILENO) == 1 || live_.elapsed() < kQuiet) return;
    fmt::print(stderr, "homa sim: {} ({})\n", text(done), name);
  }

 private:
  std::string text(std::size_t done) const {
    const auto remaining = estimate_.remaining(live_.elapsed());
    return fmt::format("{} of {} runs, {:.0f} %, {}", done, total_, 100 * estimate_.done(),
                       remaining ? human_remaining(*remaining) + " left" : "time unknown yet");
  }

  Progress live_;
  const std::size_t total_;
  SweepEstimate& estimate_;
};

struct Running {
  std::size_t run = 0;  // index into the list of the sweep
  Child child;
};

class Sweep {
 public:
  Sweep(const RunDirectory& directory, const std::vector<std::size_t>& runs)
      : directory_(directory), runs_(runs), estimate_(weights(directory, runs)), progress_(runs.size(), estimate_) {}

  SweepOutcome run(std::size_t jobs, const std::atomic<bool>& stop) {
    while (!stop && (next_ < runs_.size() || !running_.empty())) {
      while (next_ < runs_.size() && running_.size() < jobs) start(next_++);
      take_output();
      progress_.tick(outcome_.done, running_.size());
    }
    running_.clear();  // terminates what still runs
    if (stop) outcome_.done = results_there();
    outcome_.is_stopped = stop && outcome_.done < runs_.size();
    return outcome_;
  }

 private:
  /// A run may have written its result without having been waited for.
  std::size_t results_there() const {
    const std::vector<std::size_t> missing = directory_.unfinished();
    return static_cast<std::size_t>(std::count_if(runs_.begin(), runs_.end(), [&](std::size_t run) {
      return std::find(missing.begin(), missing.end(), run) == missing.end();
    }));
  }

  static std::vector<double> weights(const RunDirectory& directory, const std::vector<std::size_t>& runs) {
    std::vector<double> result;
    for (const std::size_t run : runs) result.push_back(expected_cost(directory.spec(run)));
    return result;
  }

  void start(std::size_t index) {
    const std::size_t run = runs_[index];
    running_.push_back(std::make_unique<Running>(
        Running{index, Child({"/proc/self/exe", "sim", "one", directory_.spec_file(run).string(), "-o",
                              directory_.result_file(run).string(), "--progress-lines"})}));
  }

  void take_output() {
    std::vector<Child*> children;
    for (const auto& running : running_) children.push_back(&running->child);
    std::vector<std::size_t> ready = wait_for_output(children, kRefresh);
    std::reverse(ready.begin(), ready.end());  // from the back, so that erasing moves none that is still to come
    for (const std::size_t i : ready) {
      Running& running = *running_[i];
      const bool goes_on = running.child.read([&](const std::string& line) {
        if (line.rfind(kProgressWord, 0) != 0) return;
        estimate_.progress(running.run,
                           std::strtod(line.c_str() + std::char_traits<char>::length(kProgressWord), nullptr));
      });
      if (goes_on) continue;
      ended(running);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void ended(Running& running) {
    const Ended ended = running.child.wait();
    const std::string& name = directory_.name(runs_[running.run]);
    estimate_.progress(running.run, 1);
    if (ended.exit_code == 0) {
      ++outcome_.done;
    } else {
      outcome_.failures.push_back(fmt::format("run {} failed: {}", name, reason(ended)));
    }
    progress_.ended(outcome_.done, name);
  }

  static std::string reason(const Ended& ended) {
    std::string last;
    std::string line;
    for (const char c : ended.output + "\n") {
      if (c != '\n') {
        line += c;
        continue;
      }
      if (!line.empty() && line.rfind(kProgressWord, 0) != 0) last = line;
      line.clear();
    }
    if (!last.empty()) return last;
    return ended.exit_code >= Ended::kKilled ? fmt::format("killed by signal {}", ended.exit_code - Ended::kKilled)
                                             : fmt::format("exit code {}", ended.exit_code);
  }

  const RunDirectory& directory_;
  const std::vector<std::size_t>& runs_;
  SweepEstimate estimate_;
  SweepProgress progress_;
  SweepOutcome outcome_;
  std::vector<std::unique_ptr<Running>> running_;
  std::size_t next_ = 0;
};

double part_done(const simulation::Progress& progress) {
  const double by_messages = progress.messages_total > 0 ? static_cast<double>(progress.messages_done) /
                                                               static_cast<double>(progress.messages_total)
                                                         : 0;
  // A run may take all of its time and not deliver all of its messages.
  const double by_time = progress.virtual_us_total > 0 ? progress.virtual_us / progress.virtual_us_total : 0;
  return std::min(1.0, std::max(by_messages, by_time));
}

}  // namespace

SweepOutcome run_sweep(const RunDirectory& directory, const std::vector<std::size_t>& runs, std::size_t jobs,
                       const std::atomic<bool>& stop) {
  return Sweep(directory, runs).run(jobs, stop);
}

void run_one(const std::filesystem::path& spec_file, const std::filesystem::path& result_file, bool report_lines,
             const std::atomic<bool>& stop) {
  const simulation::RunSpec spec = read_spec(spec_file);
  Progress live;
  const auto result = simulation::run(spec, [&](const simulation::Progress& progress) {
    const double part = part_done(progress);
    if (report_lines) {
      fmt::print("{}{:.4f}\n", kProgressWord, part);
      std::fflush(stdout);
    } else if (live.due()) {
      live.show(
          fmt::format("{:.0f} %, {} of {} messages", 100 * part, progress.messages_done, progress.messages_total));
    }
    return !stop;
  });
  if (!result) throw usage_failure(result.error);
  if (result->end == simulation::RunEnd::stopped) throw Failure("stopped; nothing is written");
  const std::string text = simulation::to_json(*result).dump(1) + "\n";
  if (result_file.empty()) {
    fmt::print("{}", text);
  } else {
    write_whole(result_file, text);
  }
}

}  // namespace homa::tools::sim
