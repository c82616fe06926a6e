#include "testing/world_runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace homa::sim {
namespace {

using Clock = std::chrono::steady_clock;

/// No world needs so much of a processor, even with sanitizers; it is reported as hung. Not by the clock: a machine
/// stops its processes for longer.
constexpr unsigned kHangSeconds = 60;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <std::size_t N>
void copy_text(std::array<char, N>& out, const std::string& text) {
  const std::size_t size = std::min(text.size(), N - 1);
  std::memcpy(out.data(), text.data(), size);
  out[size] = 0;
}

bool write_all(int fd, const void* data, std::size_t size) {
  return write(fd, data, size) == static_cast<ssize_t>(size);  // below PIPE_BUF: all or nothing
}
static_assert(sizeof(WorldReport) <= 4096);

/// One forked process; it runs every jobs-th seed. The report that it announces before each world names a crash.
struct Worker {
  pid_t pid = -1;
  int fd = -1;
  std::uint64_t next = 0;  // seed that it is running or will run
  std::vector<std::byte> partial;
};

class Pool {
 public:
  explicit Pool(const RunPlan& plan) : plan_(plan), end_(plan.first + plan.seeds) {}
  Summary run();

 private:
  void spawn(std::uint64_t first);
  void read_from(Worker& worker);
  void gone(Worker& worker);
  void count(const WorldReport& report);
  void show_progress();

  const RunPlan& plan_;
  const std::uint64_t end_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
  std::vector<Worker> workers_;
  Summary summary_;
  bool stopping_ = false;
};

void Pool::spawn(std::uint64_t first) {
  int ends[2];
  if (pipe(ends) != 0) return;
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    for (const Worker& other : workers_) {
      if (other.fd >= 0) close(other.fd);  // or it would never learn that its reader is gone
    }
    for (std::uint64_t seed = first; seed < end_; seed += plan_.jobs) {
      const itimerval limit{{}, {kHangSeconds, 0}};
      setitimer(ITIMER_PROF, &limit, nullptr);
      WorldReport report = run_world(seed, plan_.defects);
      // A planted defect is caught only by a world that is well without it.
      if (report.failed && plan_.defects != 0) report.failed = !run_world(seed, 0).failed;
      if (!write_all(ends[1], &report, sizeof report)) break;
    }
    _exit(0);
  }
  close(ends[1]);
  workers_.push_back({pid, ends[0], first, {}});
}

void Pool::count(const WorldReport& report) {
  ++summary_.worlds;
  summary_.events += report.events;
  summary_.calls += report.calls;
  summary_.calls_ok += report.calls_ok;
  summary_.datagrams += report.datagrams;
  summary_.dropped += report.dropped;
  summary_.peak_core_memory = std::max(summary_.peak_core_memory, report.peak_core_memory);
  for (std::size_t knob = 0; knob < kKnobs; ++knob) summary_.knob_worlds[knob] += (report.knobs >> knob) & 1u;
  if (report.failed) summary_.failures.push_back(report);
  if (summary_.failures.size() >= plan_.stop_after_failures) stopping_ = true;
}

void Pool::read_from(Worker& worker) {
  std::byte buffer[sizeof(WorldReport)];
  const ssize_t got = read(worker.fd, buffer, sizeof buffer);
  if (got <= 0) return gone(worker);
  worker.partial.insert(worker.partial.end(), buffer, buffer + got);
  while (worker.partial.size() >= sizeof(WorldReport)) {
    WorldReport report;
    std::memcpy(&report, worker.partial.data(), sizeof report);
    worker.partial.erase(worker.partial.begin(), worker.partial.begin() + sizeof report);
    worker.next = report.seed + plan_.jobs;
    count(report);
  }
}

void Pool::gone(Worker& worker) {
  close(worker.fd);
  worker.fd = -1;
  int status = 0;
  waitpid(worker.pid, &status, 0);
  if (stopping_ || worker.next >= end_) return;
  WorldReport report;
  report.seed = worker.next;
  report.failed = report.crashed = true;
  report.knobs = static_cast<std::uint32_t>(draw_world(report.seed).knobs.to_ulong());
  const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
  copy_text(report.checker, hung ? "hang" : "crash");
  copy_text(report.message, WIFSIGNALED(status) ? fmt::format("the process died of signal {}", WTERMSIG(status))
                                                : fmt::format("the process ended with {}", WEXITSTATUS(status)));
  const std::uint64_t next = worker.next + plan_.jobs;
  count(report);
  if (next < end_ && !stopping_) spawn(next);  // invalidates `worker`
}

void Pool::show_progress() {
  if (!plan_.progress || seconds_since(begin_) < 2 || seconds_since(shown_) < 0.2 || summary_.worlds == 0) return;
  shown_ = Clock::now();
  const double left = seconds_since(begin_) / static_cast<double>(summary_.worlds) *
                      static_cast<double>(plan_.seeds - std::min(plan_.seeds, summary_.worlds));
  fmt::print(stderr, "\r{} of {} worlds, {} failed, about {:.0f} s left   ", summary_.worlds, plan_.seeds,
             summary_.failures.size(), left);
  std::fflush(stderr);
}

Summary Pool::run() {
  const unsigned jobs = std::max(1u, plan_.jobs);
  for (unsigned j = 0; j < jobs && plan_.first + j < end_; ++j) spawn(plan_.first + j);
  for (;;) {
    std::vector<pollfd> fds;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (workers_[i].fd < 0) continue;
      fds.push_back({workers_[i].fd, POLLIN, 0});
      which.push_back(i);
    }
    if (fds.empty() || stopping_) break;
    poll(fds.data(), fds.size(), 200);
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].revents != 0) read_from(workers_[which[i]]);
    }
    show_progress();
  }
  for (const Worker& worker : workers_) {
    if (worker.fd < 0) continue;
    close(worker.fd);
    kill(worker.pid, SIGKILL);
    waitpid(worker.pid, nullptr, 0);
  }
  if (plan_.progress && seconds_since(begin_) >= 2) fmt::print(stderr, "\r{:70}\r", "");
  std::sort(summary_.failures.begin(), summary_.failures.end(),
            [](const WorldReport& a, const WorldReport& b) { return a.seed < b.seed; });
  summary_.seconds = seconds_since(begin_);
  return summary_;
}

}  // namespace

WorldReport run_world(std::uint64_t seed, std::uint32_t defects, std::FILE* trace) {
  World world(draw_world(seed, defects), trace);
  const WorldResult result = world.run();
  WorldReport report;
  report.seed = seed;
  report.knobs = static_cast<std::uint32_t>(result.knobs.to_ulong());
  report.failed = !result.ok();
  report.events = result.events;
  report.calls = result.calls;
  report.calls_ok = result.calls_ok;
  report.datagrams = result.datagrams;
  report.dropped = result.dropped;
  report.peak_core_memory = result.peak_core_memory;
  if (report.failed) {
    const Violation& first = result.violations.front();
    copy_text(report.checker, first.checker);
    copy_text(report.message, fmt::format("at {}: {}", to_string(first.when), first.message));
  }
  return report;
}

Summary run_worlds(const RunPlan& plan) {
  return Pool(plan).run();
}

}  // namespace homa::sim
