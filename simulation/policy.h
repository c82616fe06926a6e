// What a run's policy makes of the product's core: its Config, and the software delays of a host.
#pragma once

#include <cstdint>

#include "protocol/config.h"
#include "simulation/outcome.h"
#include "simulation/run_spec.h"
#include "simulation/topology.h"
#include "simulation/workload.h"

namespace homa::simulation {

/// Port of every host.
inline constexpr std::uint16_t kHostPort = 4000;
/// UDP payload of a full frame: an MTU of 1500 over IPv4.
inline constexpr std::uint16_t kDatagramSize = 1472;

/// Everything but the incarnation, which is each host's own. `policy` is "homa18" or "libhoma".
protocol::Config endpoint_config(const RunSpec& spec, const Topology& topology, const Workload& workload);

/// Cutoffs by which the unscheduled levels carry equal bytes of wire (SIGCOMM'18 section 3.4), for a workload that is
/// known. `levels` of the eight priorities are used, the highest; the lowest `scheduled_levels` of them not by these.
std::array<std::uint32_t, kPriorityLevels> equal_byte_cutoffs(const Workload& workload, std::uint64_t unscheduled_bytes,
                                                              int levels, int scheduled_levels);
/// Overcommitment and scheduled levels of the paper, by the part of bytes that is unscheduled: its W1 .. W5 get 1, 3,
/// 4, 7, 7.
std::uint32_t homa18_scheduled_levels(const Workload& workload);

}  // namespace homa::simulation
