// The udp-echo transport of `homa bench`.
#pragma once

#include "bench/peer.h"

namespace homa::tools {

std::unique_ptr<Service> make_udp_echo_service(const PeerSettings& settings, const Address& bind);
std::unique_ptr<Peer> make_udp_echo_peer(const PeerSettings& settings, const Address& server, unsigned connections);

}  // namespace homa::tools
