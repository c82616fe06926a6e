// The receiving half of a shard: takes datagrams and network errors from the socket and gives them to the protocol.
//
// Threads: the shard's. Ownership: refers to the socket, endpoint and counters, which outlive it.
#pragma once

#include <memory>
#include <vector>

#include "net/udp_socket.h"
#include "protocol/endpoint.h"
#include "runtime/runtime_counters.h"

namespace homa::runtime {

class ShardLink;

class Receiver {
 public:
  /// `siblings`: the links of all shards that share the port, in order, or empty when the port is not shared.
  Receiver(net::UdpSocket& socket, protocol::Endpoint& endpoint, std::size_t own_shard,
           std::vector<ShardLink*> siblings, RuntimeCounters& counters);

  /// Takes what is there, up to a bound that keeps sending alive. True when anything came. `now`: brought up to date.
  bool pump(Time& now);
  /// Takes what the error queue has.
  void read_errors(Time now);
  /// A datagram that a sibling received for us.
  void inject(const protocol::Datagram& datagram, Time now);

 private:
  static constexpr int kBatchesPerTurn = 2;
  static constexpr std::size_t kBuffers = 32;
  /// Taking so few bytes takes no time worth another look at the clock.
  static constexpr std::size_t kQuickBytes = 2048;

  void take(const net::Received& received, Time now);
  bool hand_over(const protocol::Datagram& datagram);

  net::UdpSocket& socket_;
  protocol::Endpoint& endpoint_;
  RuntimeCounters& counters_;
  const std::size_t own_shard_;
  const std::vector<ShardLink*> siblings_;
  net::ReceiveBatch batch_{kBuffers};
  std::size_t ask_ = 1;  // buffers to ask for at once: grows while they come in numbers
  std::unique_ptr<protocol::Arrival> arrival_;
  std::uint64_t pending_errors_seen_ = 0;
};

}  // namespace homa::runtime
