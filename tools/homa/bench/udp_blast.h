// udp-blast: how fast a bare GSO/GRO pair moves trains here, with 38 header bytes per packet and one copy per side.
//
// No acknowledgment, no order, no rate: what counts is what arrived. The ceiling for anything built on UDP.
#pragma once

#include "bench/peer.h"

namespace homa::tools {

std::unique_ptr<Service> make_udp_blast_service(const PeerSettings& settings, const Address& bind);

struct BlastResult {
  std::uint64_t packets = 0;
  std::uint64_t payload = 0;  ///< bytes sent, headers not counted
  Duration elapsed{};
};

/// Sends trains as fast as the socket takes them, for `duration`.
BlastResult blast(const PeerSettings& settings, const Address& server, Duration duration);

}  // namespace homa::tools
