// One run of `homa bench run`: one row of a table, one JSON object.
#pragma once

#include <atomic>
#include <cstdio>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/control.h"
#include "bench/load.h"

namespace homa::tools {

struct RunSettings {
  PeerSettings peer;
  LoadSettings load;
  unsigned threads = 1;
  unsigned connections = 1;  ///< tcp: per thread
  Duration warm_up = 500ms;
  std::vector<int> cores;  ///< thread i runs on cores[i % size]; empty: anywhere
};

struct RunReport {
  LoadResult load;               ///< empty for udp-blast
  std::uint64_t sent_bytes = 0;  ///< udp-blast: payload sent
  CpuTime near_cpu;
  FarEnd far;
  double gigabits_per_second = 0;
  double calls_per_second = 0;
  /// Seconds of both ends per 10^9 payload bytes.
  double cpu_per_gigabyte = 0;
};

RunReport run_bench(const Address& server, const RunSettings& settings, const std::atomic<bool>& stop);

nlohmann::json to_json(const RunSettings& settings, const RunReport& report);
void print_table(std::FILE* out, const RunSettings& settings, const RunReport& report);

}  // namespace homa::tools
