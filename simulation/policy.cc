#include "simulation/policy.h"

#include <algorithm>
#include <cmath>

#include "simulation/packet_format.h"
#include "wire/native.h"

namespace homa::simulation {
namespace {

void be_homa18(protocol::Config& config, const RunSpec& spec, const Workload& workload) {
  config.unscheduled_bytes = spec.unscheduled_bytes != 0 ? spec.unscheduled_bytes : kNativeUnscheduledBytes;
  const std::uint32_t levels = homa18_scheduled_levels(workload);
  config.overcommitment = static_cast<std::uint8_t>(spec.overcommitment != 0 ? spec.overcommitment : levels);
  config.oldest_share = 0;
  config.nic_budget = Duration::zero();
  protocol::FixedPolicy& fixed = config.fixed_policy;
  fixed.window = config.unscheduled_bytes;
  // Fewer levels in the network: the same split, in proportion, and one level at least for each kind.
  const std::uint32_t scheduled = spec.scheduled_levels != 0 ? spec.scheduled_levels : levels;
  const double part = static_cast<double>(scheduled) * spec.priority_levels / kPriorityLevels;
  const auto most = std::max<std::uint32_t>(spec.priority_levels, 2) - 1;
  fixed.scheduled_levels =
      static_cast<std::uint8_t>(std::clamp<std::uint32_t>(static_cast<std::uint32_t>(std::lround(part)), 1, most));
  fixed.cutoffs = equal_byte_cutoffs(workload, config.unscheduled_bytes, static_cast<int>(spec.priority_levels),
                                     fixed.scheduled_levels);
}

}  // namespace

std::uint32_t homa18_scheduled_levels(const Workload& workload) {
  const double bytes = workload.mean();
  const double unscheduled = workload.mean_of(
      [](std::uint64_t size) { return static_cast<double>(std::min<std::uint64_t>(size, kNativeUnscheduledBytes)); });
  const double part = unscheduled / bytes;
  // Levels in the ratio of bytes would give 8 x (1 - part), 1 .. 7: 1, 2, 6, 7, 7. The paper chose 3 and 4 for W2 and
  // W3 (section 5.2), whose unscheduled parts are .77 and .29.
  if (part > 0.95) return 1;
  if (part > 0.5) return 3;
  return part > 0.15 ? 4 : 7;
}

std::array<std::uint32_t, kPriorityLevels> equal_byte_cutoffs(const Workload& workload, std::uint64_t unscheduled_bytes,
                                                              int levels, int scheduled_levels) {
  std::array<std::uint32_t, kPriorityLevels> cutoffs;
  cutoffs.fill(~std::uint32_t{0});
  const int unscheduled_levels = levels > 1 ? levels - scheduled_levels : 1;
  const int lowest = kPriorityLevels - unscheduled_levels;
  const auto cost = [&](std::uint64_t size) {
    return static_cast<double>(native_message_cost(std::min(size, unscheduled_bytes), unscheduled_bytes));
  };
  const double total = workload.mean_of(cost);
  double gathered = 0;
  int level = kPriorityLevels - 1;
  for (const Workload::Step& step : workload.steps()) {
    gathered += step.probability * cost(step.size);
    while (level > lowest && gathered >= total * (kPriorityLevels - level) / unscheduled_levels) {
      cutoffs[static_cast<std::size_t>(level--)] =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(step.size, ~std::uint32_t{0}));
    }
  }
  return cutoffs;
}

protocol::Config endpoint_config(const RunSpec& spec, const Topology& topology, const Workload& workload) {
  constexpr std::uint64_t kEnough = std::uint64_t{1} << 50;  // a simulation shall not block for want of memory
  protocol::Config config;
  config.uplink = topology.host_rate;
  config.downlink = topology.host_rate;
  config.priority_levels = static_cast<std::uint8_t>(spec.priority_levels);
  config.receive_memory = kEnough;
  config.send_memory = kEnough;
  config.incast_control = spec.incast_control;
  config.max_waiting_calls = ~std::uint32_t{0};
  if (spec.carrier == RunCarrier::native) {
    config.carrier = protocol::Carrier::native;
    config.native_port = kHostPort;
    config.native_one_way = spec.generator != Generator::request_response;
    config.slots = 65535;
    config.initial_datagram = static_cast<std::uint16_t>(kNativePayload + wire::kNativeDataHeaderSize);
  } else {
    config.initial_datagram = kDatagramSize;
  }
  config.min_datagram = config.max_datagram = config.initial_datagram;
  if (spec.unscheduled_bytes != 0) config.unscheduled_bytes = spec.unscheduled_bytes;
  if (spec.overcommitment != 0) config.overcommitment = static_cast<std::uint8_t>(spec.overcommitment);
  if (spec.policy == "homa18") be_homa18(config, spec, workload);
  return config;
}

}  // namespace homa::simulation
