// CPU time of one end: user + system + softirq of its core, whoever it was billed to.
//
// Softirq work runs in the context of whoever was interrupted, so one process's rusage tells half of it. /proc/stat
// counts by core; with one core per end the two reports add up to what the transfer cost.
#pragma once

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace homa::tools {

/// Seconds. Resolution of /proc/stat: 10 ms.
struct CpuTime {
  double user = 0;
  double system = 0;
  double softirq = 0;
  double total() const { return user + system + softirq; }
};

nlohmann::json to_json(const CpuTime& time);
CpuTime cpu_from_json(const nlohmann::json& json);

/// Pins the calling thread. Throws Failure when the core does not exist.
void pin_to_core(int core);
/// Measures from construction to stop(): the time of these cores, or with none this process's own (without softirq).
class CpuMeter {
 public:
  explicit CpuMeter(std::vector<int> cores);
  CpuTime stop() const;

 private:
  CpuTime read() const;
  std::vector<int> cores_;
  CpuTime begin_;
};

/// Keeps a core from sleeping, so that blocking transports are not measured by how slowly an idle core wakes up here.
/// Runs at SCHED_IDLE: anything else takes the core at once. Its own time is known and left out of the figures.
class Spinner {
 public:
  explicit Spinner(std::optional<int> core);
  ~Spinner();
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;
  /// CPU seconds burnt so far.
  double burnt() const;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace homa::tools
