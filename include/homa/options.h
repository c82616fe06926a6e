// Options of clients and servers. Plain values; no thread rule. Every default says where it comes from.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "homa/base/address.h"
#include "homa/base/time.h"

namespace homa {

/// How traffic is protected. There is no default on purpose: whoever sends in clear has written so.
class Security {
 public:
  Security() = delete;
  /// Neither encrypted nor authenticated: anyone on the path can read, change and forge. For networks that are trusted.
  static constexpr Security clear() { return Security(Kind::clear); }

 private:
  enum class Kind : std::uint8_t { clear };
  explicit constexpr Security(Kind kind) : kind_(kind) {}
  [[maybe_unused]] Kind kind_;
};

/// What a thread of the library does while there is nothing to do.
enum class WaitMode : std::uint8_t {
  busy_poll,  ///< spins always: lowest latency, one whole core per shard
  adaptive,   ///< spins for EndpointOptions::spin after the last work, then sleeps
  block,      ///< sleeps at once: least CPU time
};

/// Who runs the protocol.
enum class Drive : std::uint8_t {
  own_threads,  ///< the library starts one thread per shard
  caller,       ///< no threads: the application's thread drives, inside blocking calls, poll() or run(); one shard only
};

/// DSCP (RFC 2474, 6 bits) of each Homa priority, least urgent first.
struct PriorityMap {
  /// Priorities that the network keeps apart: 8, 4, 2 or 1. With fewer than 8 only the last `levels` entries are used.
  std::uint8_t levels = 8;
  /// Class selectors and assured forwarding from low to high; CS6 and CS7 are left to network control (RFC 4594).
  /// CS1, default, AF11, CS2, AF21, CS3, CS4, CS5.
  std::array<std::uint8_t, 8> dscp = {8, 0, 10, 16, 18, 24, 32, 40};

  /// For networks that keep nothing apart or rewrite DSCP: shortest first is then kept at both ends only.
  static constexpr PriorityMap best_effort() { return {1, {}}; }
};

/// What clients and servers have in common.
struct EndpointOptions {
  explicit EndpointOptions(Security how) : security(how) {}

  Security security;

  // --- threads -------------------------------------------------------------------------------------------------
  Drive drive = Drive::own_threads;
  WaitMode wait = WaitMode::adaptive;
  /// adaptive: time without work before the thread sleeps. About what a sleep and wake-up costs.
  Duration spin = 50us;
  /// Threads with a socket each. A server's shards share one port, a client's have a port each. 1 .. 64.
  unsigned shards = 1;
  /// Shard i is pinned to cores[i % size]. Empty: the scheduler decides.
  std::vector<int> cores;
  /// Threads are named "<name>/<shard>", for ps and perf. At most 12 characters are seen.
  std::string thread_name = "homa";

  // --- network -------------------------------------------------------------------------------------------------
  /// Local address. All zero: every address, both IPv6 and IPv4. Port 0: the system chooses one.
  Address bind;
  PriorityMap priorities;
  /// SO_RCVBUF and SO_SNDBUF asked for, bytes per shard. The system may give less (net.core.rmem_max, wmem_max).
  int receive_buffer = 8 * 1024 * 1024;
  int send_buffer = 4 * 1024 * 1024;
  /// UDP payload to probe for upward, bytes. 8952 fits an MTU of 9000 over IPv6.
  std::uint16_t max_datagram = 8952;
  /// Rate of the host's link in Gbit/s when it is known; 0: measured.
  double uplink_gbps = 0;
  double downlink_gbps = 0;

  // --- limits --------------------------------------------------------------------------------------------------
  /// Longest message that is sent or taken, bytes. Longer: too_long.
  std::uint64_t max_message_length = std::uint64_t{1} << 30;
  /// Memory for received messages, arriving or held by the application, bytes, all shards together. At least
  /// max_message_length. When it is used up, peers are told to wait.
  std::uint64_t receive_memory = (std::uint64_t{1} << 30) + (std::uint64_t{256} << 20);
  /// Bytes handed over for sending and not yet acknowledged, per shard. Beyond it: would_block.
  std::uint64_t send_memory = std::uint64_t{4} << 30;

  // --- times ---------------------------------------------------------------------------------------------------
  /// Silence of a peer despite being asked, after which its calls fail with peer_timeout.
  Duration peer_timeout = 5s;
  /// Silence after which an idle peer may be forgotten; it costs one round trip to meet again.
  Duration idle_timeout = 30s;
};

struct ClientOptions : EndpointOptions {
  using EndpointOptions::EndpointOptions;

  /// Calls and one-way messages started and not ended, per shard. Beyond it a callback call gives would_block and a
  /// blocking one waits.
  std::uint32_t max_pending_calls = 4096;
};

struct ServerOptions : EndpointOptions {
  using EndpointOptions::EndpointOptions;

  /// Requests in progress that each client shard may have here: the back-pressure for small requests. 1 .. 65535.
  std::uint16_t slots = 1024;
  /// Bytes of each message that clients may send without being asked: about a round trip of the network.
  std::uint32_t unscheduled_bytes = 64 * 1024;
  /// Client shards that are remembered at a time.
  std::uint32_t max_clients = 1u << 17;
};

/// The clock of deadlines: CLOCK_MONOTONIC.
using Clock = std::chrono::steady_clock;

/// Options of one call or one-way message.
struct CallOptions {
  /// When the caller gives up: the call ends with deadline_exceeded. The server is told.
  Clock::time_point deadline = Clock::time_point::max();
  /// 0 is most urgent; compared before the length when messages compete for the network.
  std::uint8_t message_class = 0;
  /// The call may run more than once: it may ride with the first packet to a new server and is sent again after the
  /// server restarted.
  bool idempotent = false;

  static CallOptions within(Duration timeout) {
    CallOptions options;
    options.deadline = Clock::now() + timeout;
    return options;
  }
};

}  // namespace homa
