// What one simulated run is: plain values that name everything which decides its outcome. Two runs of equal specs give
// results of equal bytes (run_result.h), on any machine.
//
// Values; copy freely.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "simulation/outcome.h"

namespace homa::simulation {

/// What the hosts speak.
enum class RunCarrier : std::uint8_t {
  native,    ///< Linux Homa packets with the header sizes of the SIGCOMM'18 simulator, one-way, loss-free only
  datagram,  ///< the product's own frames over UDP, with acknowledgments and loss recovery
};

/// Which bytes `load` counts, as a fraction of the host links' rate.
enum class LoadKind : std::uint8_t {
  total,        ///< headers, gaps and grants of the SIGCOMM'18 packet format count too, as in the paper's "80 % load"
  application,  ///< message bytes only
};

/// Who sends what to whom.
enum class Generator : std::uint8_t {
  /// Each host starts one-way messages of random sizes to random other hosts; exponential gaps (SIGCOMM'18
  /// section 5.2).
  poisson_one_way,
  /// The same with requests, each echoed in full by its server; latencies are of whole exchanges. Each direction of
  /// each
  /// host's link bears `load`. Datagram carrier only.
  request_response,
  /// Host 0 asks `incast_width` servers (several per host when there are fewer hosts) for `incast_response_bytes` each,
  /// all at once, again and again. Datagram carrier only. `load` and `workload` mean nothing.
  incast,
  /// Hosts A and B behind one leaf, C and D behind another: A and B send long messages to C without pause, A also sends
  /// `workload` messages to D at `load`. Only A's traffic to D is measured; the goodput of each pair is reported.
  victim,
};

struct RunSpec {
  /// A topology file (data/simulation/README.md), or the name of one in data/simulation, such as "homa18".
  std::string topology = "homa18";
  /// More or fewer hosts than the topology says, by leaves (or pods) of the same size; 0: as it says.
  std::uint32_t hosts = 0;
  RunCarrier carrier = RunCarrier::native;
  /// "w1" .. "w5", a size file in the format of data/workloads/README.md, or a number of bytes.
  std::string workload = "w4";
  double load = 0.8;  ///< 0 < load <= 1
  LoadKind load_kind = LoadKind::total;
  Generator generator = Generator::poisson_one_way;

  /// "homa18": the paper's settings. "libhoma": the product's defaults. "oracle": no protocol, but ideal shortest
  /// remaining first with global knowledge (a lower bound; native carrier and one-way messages only).
  std::string policy = "homa18";
  std::uint32_t overcommitment = 0;     ///< messages granted at once; 0: what the policy says
  std::uint32_t scheduled_levels = 0;   ///< levels for granted bytes; 0: what the policy says
  std::uint32_t priority_levels = 8;    ///< 1 .. 8 that hosts use and switches tell apart
  std::uint32_t unscheduled_bytes = 0;  ///< per message; 0: what the policy says
  bool incast_control = true;           ///< responses expected shrink what comes unasked (SIGCOMM'18 section 3.6)

  double loss_rate = 0;                   ///< of frames at random, on the links into hosts; datagram carrier only
  std::uint64_t ecn_threshold_bytes = 0;  ///< queues above it mark; 0: what the topology says

  std::uint32_t incast_width = 100;
  std::uint64_t incast_response_bytes = 10000;

  std::uint64_t seed = 1;
  /// So many messages are measured, the first that start after warm-up; the load goes on until all of them are
  /// delivered, for as long again as it took to start them at most (or for 50 ms, when datagrams may have to come
  /// again).
  std::uint64_t messages = 100000;
  /// The run ends at this virtual time at the latest, if it is not 0, and when the backlog diverges.
  double duration_us = 0;
  /// Messages that start before it are carried but not measured; 0: chosen by the workload (run_result.h says it).
  double warm_up_us = 0;
  /// The load goes on until the backlog was watched for so many relaxation times after warm-up, for a verdict on it.
  std::uint32_t watched_relaxations = 0;
  /// How many size buckets of equal message count slowdown is reported in; largest 1 % and 0.1 % are added apart.
  std::uint32_t buckets = 20;
};

/// Every field is written, enums by name.
nlohmann::json to_json(const RunSpec& spec);
/// Fields that are missing keep their defaults. An unknown key, a wrong type, or a value out of range (also one that no
/// run of that carrier, generator and policy can have) is an error that names it.
Outcome<RunSpec> spec_from_json(const nlohmann::json& json);
/// What spec_from_json() checks of values; empty when all is well.
std::string fault_of(const RunSpec& spec);

const char* to_string(RunCarrier carrier);
const char* to_string(LoadKind kind);
const char* to_string(Generator generator);

}  // namespace homa::simulation
