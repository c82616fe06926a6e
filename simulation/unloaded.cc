#include "simulation/unloaded.h"

#include <algorithm>

#include "simulation/packet_format.h"
#include "wire/datagram.h"

namespace homa::simulation {

Distance distance_between(const Topology& topology, std::uint32_t a, std::uint32_t b) {
  if (topology.leaf_of(a) == topology.leaf_of(b)) return Distance::same_leaf;
  return topology.pod_of(a) == topology.pod_of(b) ? Distance::same_pod : Distance::other_pod;
}

UnloadedTimes::UnloadedTimes(const Topology& topology, const protocol::Config& config)
    : topology_(topology),
      native_(config.carrier == protocol::Carrier::native),
      unscheduled_bytes_(config.unscheduled_bytes),
      datagram_size_(config.initial_datagram) {}

Duration UnloadedTimes::of(std::uint64_t length, Distance distance) {
  const std::uint64_t key = length << 2 | static_cast<std::uint64_t>(distance);
  const auto [entry, is_new] = known_.try_emplace(key);
  if (is_new) entry->second = compute(length, distance);
  return entry->second;
}

Duration UnloadedTimes::on_link(std::uint64_t length) {
  const auto [entry, is_new] = known_on_link_.try_emplace(length);
  if (is_new) {
    LinkClock clock(topology_.host_rate);
    for (const std::uint32_t frame : frames_of(length)) entry->second += clock.next(frame);
  }
  return entry->second;
}

Duration UnloadedTimes::of_call(std::uint64_t request, std::uint64_t response, Distance distance) {
  // The application answers at once, but the answer leaves only when the software has acted on the request.
  return of(request, distance) + topology_.delivery_lead + of(response, distance);
}

// Bytes of wire of each frame, in order.
std::vector<std::uint32_t> UnloadedTimes::frames_of(std::uint64_t length) const {
  std::vector<std::uint32_t> frames;
  std::uint64_t offset = 0;
  do {
    // A native packet does not straddle the end of what may go unscheduled.
    const bool before_border = native_ && offset < unscheduled_bytes_;
    const std::uint64_t end = before_border ? std::min(length, unscheduled_bytes_) : length;
    const std::size_t header = offset == 0 ? wire::kDataFirstHeaderSize : wire::kDataHeaderSize;
    const std::uint64_t most = native_ ? kNativePayload : datagram_size_ - wire::kFrameHeaderSize - header;
    const auto payload = static_cast<std::uint32_t>(std::min(end - offset, most));
    frames.push_back(native_ ? native_data_frame(payload, offset >= unscheduled_bytes_)
                             : frame_of(static_cast<std::uint32_t>(wire::kFrameHeaderSize + header) + payload));
    offset += payload;
  } while (offset < length);
  return frames;
}

std::vector<UnloadedTimes::Hop> UnloadedTimes::path(Distance distance) const {
  const bool cut_through = topology_.forwarding == Forwarding::cut_through;
  const Duration to_switch = topology_.link_delay + topology_.switch_delay;
  const Hop across_uplink{LinkClock(topology_.uplink_rate), to_switch, cut_through};
  std::vector<Hop> hops{{LinkClock(topology_.host_rate), topology_.transmit_delay + to_switch, cut_through}};
  if (distance == Distance::same_pod) hops.insert(hops.end(), 2, across_uplink);
  if (distance == Distance::other_pod) {
    hops.push_back(across_uplink);
    hops.insert(hops.end(), 2, {LinkClock(topology_.core_rate), to_switch, cut_through});
    hops.push_back(across_uplink);
  }
  hops.push_back({LinkClock(topology_.host_rate), topology_.link_delay + topology_.receive_delay, false});
  return hops;
}

Duration UnloadedTimes::compute(std::uint64_t length, Distance distance) const {
  std::vector<Hop> hops = path(distance);
  std::vector<Time> free_at(hops.size());
  Time last{};
  for (const std::uint32_t frame : frames_of(length)) {
    Time arrival{};  // where the frame may begin to leave
    Time tail{};     // before which its last bit cannot leave
    for (std::size_t i = 0; i < hops.size(); ++i) {
      Hop& hop = hops[i];
      if (arrival > free_at[i]) hop.clock.idle();
      const Time begin = std::max(arrival, free_at[i]);
      free_at[i] = std::max(begin + hop.clock.next(frame), tail);
      tail = hop.cut_through ? free_at[i] + hop.delay : Time{};
      arrival = hop.cut_through ? begin + hop.clock.of(kDecisionBytes) + hop.delay : free_at[i] + hop.delay;
    }
    last = arrival;
  }
  return last - Time{} - topology_.delivery_lead;
}

}  // namespace homa::simulation
