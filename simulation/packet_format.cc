#include "simulation/packet_format.h"

namespace homa::simulation {
namespace {

/// Full packets and a rest.
std::uint64_t data_cost(std::uint64_t bytes, bool scheduled) {
  const std::uint64_t full = bytes / kNativePayload;
  const auto rest = static_cast<std::uint32_t>(bytes % kNativePayload);
  return full * native_data_frame(kNativePayload, scheduled) + (rest != 0 ? native_data_frame(rest, scheduled) : 0);
}

}  // namespace

std::uint64_t native_message_cost(std::uint64_t length, std::uint64_t unscheduled_bytes) {
  const std::uint64_t unscheduled = std::min(length, unscheduled_bytes);
  const std::uint64_t scheduled = length - unscheduled;
  const std::uint64_t grants = (scheduled + kNativePayload - 1) / kNativePayload;
  return data_cost(unscheduled, false) + data_cost(scheduled, true) + grants * kSmallestFrame;
}

double application_load_factor(const Workload& workload, std::uint64_t unscheduled_bytes) {
  const double wire = workload.mean_of(
      [&](std::uint64_t size) { return static_cast<double>(native_message_cost(size, unscheduled_bytes)); });
  return workload.mean() / wire;
}

}  // namespace homa::simulation
