// How many bytes of wire each packet takes, by carrier, and what that makes of a load.
//
// Native: the headers of the SIGCOMM'18 simulator, whatever the codec writes, since its published loads count them. Its
// application-load factors (W1 .657, W2 .796, W3 .887, W4 .898, W5 .898) follow from these numbers; a unit test shows
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "simulation/workload.h"

namespace homa::simulation {

/// Ethernet header 14, checksum 4, preamble 8, gap 12.
inline constexpr std::uint32_t kEthernetOverhead = 38;
/// IPv4 20 and UDP 8: the paper's packets are UDP datagrams too.
inline constexpr std::uint32_t kIpUdpOverhead = 28;
/// 64 bytes of frame, preamble and gap.
inline constexpr std::uint32_t kSmallestFrame = 84;

/// Message bytes of a full packet. 1442 + 30 + 28 = an MTU of 1500.
inline constexpr std::uint32_t kNativePayload = 1442;
inline constexpr std::uint32_t kNativeUnscheduledHeader = 30;
inline constexpr std::uint32_t kNativeScheduledHeader = 16;
/// What RTTbytes = 10000 bytes of wire carry: six full packets and one of 676 bytes.
inline constexpr std::uint32_t kNativeUnscheduledBytes = 9328;

constexpr std::uint32_t frame_of(std::uint32_t bytes) {
  return std::max(kSmallestFrame, bytes + kEthernetOverhead + kIpUdpOverhead);
}
/// DATA packet of the native carrier.
constexpr std::uint32_t native_data_frame(std::uint32_t payload, bool scheduled) {
  return frame_of(payload + (scheduled ? kNativeScheduledHeader : kNativeUnscheduledHeader));
}

/// Bytes that one message costs the network in the paper's format, its grants (one per scheduled packet) included.
std::uint64_t native_message_cost(std::uint64_t length, std::uint64_t unscheduled_bytes);
/// Message bytes over bytes of wire: what a load that counts everything leaves to the application.
double application_load_factor(const Workload& workload, std::uint64_t unscheduled_bytes);

}  // namespace homa::simulation
