// The time that a message needs in an empty network: what slowdown divides by.
//
// Exact for the model: the frames of the message pass one after the other through the links of a path, and each link
// takes the next frame when it has it and is free. A unit test holds it against simulated messages.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "protocol/config.h"
#include "simulation/port.h"
#include "simulation/topology.h"

namespace homa::simulation {

/// How far two hosts are apart.
enum class Distance : std::uint8_t { same_leaf, same_pod, other_pod };
Distance distance_between(const Topology& topology, std::uint32_t a, std::uint32_t b);

class UnloadedTimes {
 public:
  UnloadedTimes(const Topology& topology, const protocol::Config& config);

  /// From start to delivery of a one-way message.
  Duration of(std::uint64_t length, Distance distance);
  /// Of that, what the frames take on a link of a host.
  Duration on_link(std::uint64_t length);
  /// Of a call, when the server answers at once.
  Duration of_call(std::uint64_t request, std::uint64_t response, Distance distance);

 private:
  struct Hop {
    LinkClock clock;
    Duration delay{0};  ///< after the last bit (store and forward), or after the decision (cut-through)
    bool cut_through = false;
  };
  std::vector<std::uint32_t> frames_of(std::uint64_t length) const;
  Duration compute(std::uint64_t length, Distance distance) const;
  std::vector<Hop> path(Distance distance) const;

  const Topology topology_;
  const bool native_;
  const std::uint64_t unscheduled_bytes_;
  const std::uint32_t datagram_size_;
  std::unordered_map<std::uint64_t, Duration> known_;
  std::unordered_map<std::uint64_t, Duration> known_on_link_;
};

}  // namespace homa::simulation
