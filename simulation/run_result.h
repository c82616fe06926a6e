// What one simulated run found. Everything but `cost` is determined by the spec: deterministic_json() of two runs of
// one spec are equal byte by byte.
//
// Values; copy freely.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "simulation/outcome.h"
#include "simulation/run_spec.h"

namespace homa::simulation {

/// An estimate with its 95 % confidence interval.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Slowdown of messages: time from start to delivery, over the time that a message of that size between those hosts
/// needs when the network is empty.
struct SlowdownStatistics {
  std::uint64_t count = 0;
  Estimate p50;  ///< intervals of quantiles by order statistics
  Estimate p99;
  Estimate mean;  ///< interval by means of ten batches in order of time: neighbours in time are not independent
};

/// Messages of one range of sizes.
struct SizeBucket {
  std::uint64_t smallest_bytes = 0;  ///< that occurred
  std::uint64_t largest_bytes = 0;   ///< upper bound of the bucket, inclusive
  double count_fraction = 0;         ///< of the workload's messages, cumulative up to and including this bucket
  SlowdownStatistics slowdown;
};

struct LatencyPercentiles {
  std::uint64_t count = 0;
  double min_us = 0;
  double p50_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double max_us = 0;
};

/// Rates as means over all hosts that send, after warm-up.
struct Rates {
  double offered_gbps = 0;      ///< message bytes started
  double goodput_gbps = 0;      ///< message bytes delivered (of whole messages)
  double carried_gbps = 0;      ///< bytes on the host downlinks, headers and gaps and all
  double link_utilisation = 0;  ///< carried over the rate of the host links
};

enum class LoadVerdict : std::uint8_t {
  sustainable,  ///< the backlog's slope cannot be told from 0, or is negligible
  diverges,     ///< the backlog grows steadily
  unknown,      ///< the run was too short to tell
};

/// Message bytes started and not yet delivered, all hosts together.
struct Backlog {
  Estimate slope;  ///< second half of the measuring; bytes per second, as a fraction of the bytes offered per second
  double mean_bytes = 0;
  double max_bytes = 0;
  LoadVerdict verdict = LoadVerdict::unknown;
};

/// Queue of one kind of output port; means over time and ports, maxima over both. The frame being sent does not count.
struct PortStatistics {
  std::string kind;  ///< "host_up", "host_down" (leaf to host), "leaf_up", "spine_down", "spine_up", "core_down"
  std::uint32_t ports = 0;
  double mean_bytes = 0;
  double max_bytes = 0;
  double utilisation = 0;
  std::uint64_t marked = 0;  ///< frames marked CE
};

/// Bytes of frames that reached hosts, with headers and gaps; whole run. A frame counts for the first thing in it.
struct TrafficStatistics {
  std::uint64_t unscheduled_bytes = 0;
  std::uint64_t scheduled_bytes = 0;
  std::uint64_t grant_bytes = 0;
  std::uint64_t acknowledgment_bytes = 0;  ///< frames that carry no data and no grant
  std::uint64_t retransmitted_bytes = 0;   ///< of the above
  std::array<std::uint64_t, 8> priority_bytes{};
};

struct Drops {
  std::uint64_t full_buffers = 0;
  std::uint64_t random_losses = 0;
};

/// `victim` and `incast`: goodput of one flow or of the whole.
struct FlowGoodput {
  std::string name;         ///< "A to C", "B to C", "A to D"; "incast"
  double gbps = 0;          ///< delivered
  double offered_gbps = 0;  ///< started
};

/// How the run ended.
enum class RunEnd : std::uint8_t {
  complete,  ///< all measured messages were delivered
  duration,  ///< the time was over first: spec.duration_us, or as long again as it took to start the messages
  diverged,  ///< the backlog grew beyond bounds; what is there is reported
  stopped,   ///< the progress callback said so
};

/// What differs between two runs of one spec.
struct RunCost {
  double cpu_seconds = 0;
  double peak_memory_mb = 0;  ///< of the process
};

struct RunResult {
  RunSpec spec;
  RunEnd end = RunEnd::complete;
  std::uint32_t hosts = 0;
  double simulated_us = 0;  ///< virtual time of the whole run
  double warm_up_us = 0;
  std::uint64_t messages_started = 0;     ///< whole run
  std::uint64_t messages_measured = 0;    ///< started after warm-up, wanted, and delivered
  std::uint64_t messages_unfinished = 0;  ///< started after warm-up, wanted, and not delivered when the run ended
  std::uint64_t messages_failed = 0;      ///< ended otherwise than ok

  std::vector<SizeBucket> buckets;  ///< ascending, disjoint
  std::vector<SizeBucket> largest;  ///< the largest 1 % and 0.1 % of messages: overlap with `buckets`
  SlowdownStatistics all;
  SlowdownStatistics shortest_half;
  LatencyPercentiles latency;           ///< all sizes
  LatencyPercentiles shortest_latency;  ///< shortest half
  Rates rates;
  Backlog backlog;
  std::vector<PortStatistics> ports;
  TrafficStatistics traffic;
  Drops drops;
  std::vector<FlowGoodput> flows;
  std::uint64_t events = 0;  ///< of the event loop

  RunCost cost;
};

/// All of it, `cost` under a key of its own.
nlohmann::json to_json(const RunResult& result);
/// All but `cost`.
nlohmann::json deterministic_json(const RunResult& result);
/// Reads what to_json() or deterministic_json() wrote; an error names what is wrong.
Outcome<RunResult> result_from_json(const nlohmann::json& json);

const char* to_string(LoadVerdict verdict);
const char* to_string(RunEnd end);

}  // namespace homa::simulation
