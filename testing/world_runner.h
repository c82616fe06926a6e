// Runs many worlds in several processes and keeps count.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "testing/world.h"

namespace homa::sim {

/// Plain numbers of one world, as a worker process reports them.
struct WorldReport {
  std::uint64_t seed = 0;
  std::uint32_t knobs = 0;
  bool failed = false;
  bool crashed = false;
  std::uint64_t events = 0;
  std::uint64_t calls = 0;
  std::uint64_t calls_ok = 0;
  std::uint64_t datagrams = 0;
  std::uint64_t dropped = 0;
  std::uint64_t peak_core_memory = 0;
  std::array<char, 40> checker{};
  std::array<char, 400> message{};
};

struct Summary {
  std::uint64_t worlds = 0;
  std::uint64_t events = 0;
  std::uint64_t calls = 0;
  std::uint64_t calls_ok = 0;
  std::uint64_t datagrams = 0;
  std::uint64_t dropped = 0;
  std::uint64_t peak_core_memory = 0;
  std::array<std::uint64_t, kKnobs> knob_worlds{};
  std::vector<WorldReport> failures;  ///< in order of their seeds
  double seconds = 0;
};

struct RunPlan {
  std::uint64_t first = 1;
  std::uint64_t seeds = 1;
  unsigned jobs = 1;
  std::uint32_t defects = 0;
  std::uint64_t stop_after_failures = 100000;
  bool progress = false;
};

/// Runs one world in this process.
WorldReport run_world(std::uint64_t seed, std::uint32_t defects, std::FILE* trace = nullptr);
/// Runs worlds in forked workers, so that a crash costs one world and is reported with its seed.
Summary run_worlds(const RunPlan& plan);

}  // namespace homa::sim
