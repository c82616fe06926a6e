// The tcp transport of `homa bench`.
#pragma once

#include "bench/peer.h"

namespace homa::tools {

std::unique_ptr<Service> make_tcp_service(const PeerSettings& settings, const Address& bind);
std::unique_ptr<Peer> make_tcp_peer(const PeerSettings& settings, const Address& server, unsigned connections);

}  // namespace homa::tools
