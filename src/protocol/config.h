// Settings of one protocol endpoint. Values, copied at construction; every default says where it comes from.
#pragma once

#include <array>
#include <cstdint>

#include "base/address.h"
#include "base/units.h"

namespace homa::protocol {

class SharedBudget;

enum class Carrier : std::uint8_t {
  datagram,  ///< our frames over UDP: associations, acknowledgments, loss recovery
  native,    ///< Linux Homa packets; no loss recovery yet, for networks that lose nothing (the simulator)
};

/// The policy of SIGCOMM'18 as it was simulated, for comparison with its published results: everything computed
/// beforehand from the workload and the network. Each of the `overcommitment` best messages may have `window` bytes
/// under way whatever else arrives, each packet that arrives draws its grant, nothing is paced, a train is one packet,
/// and who falls silent keeps its place.
struct FixedPolicy {
  std::uint64_t window = 0;  ///< RTTbytes; 0: the policy is not fixed
  std::array<std::uint32_t, kPriorityLevels> cutoffs{};
  std::uint8_t scheduled_levels = 1;
  bool in_force() const { return window != 0; }
};

struct Config {
  Carrier carrier = Carrier::datagram;
  /// Native carrier: our port, a server's below 32768.
  std::uint16_t native_port = 0;
  /// Native carrier, for simulations: every message is one-way and ends with its last byte sent. Not for the wire.
  bool native_one_way = false;

  /// Names this process's life; peers tell a restart from a forgotten association by it. Random, never 0.
  std::uint64_t incarnation = 0;
  /// Index of this shard and how many share the port; the shard becomes the highest byte of every id that we choose.
  std::uint8_t shard = 0;
  /// Takes requests and one-way messages. A pure client answers HELLO with silence.
  bool accepts = true;

  // --- what we take from peers -------------------------------------------------------------------------------
  std::uint64_t max_message_length = std::uint64_t{1} << 30;
  /// Requests in progress that one client association may have here. At least 1.
  std::uint16_t slots = 1024;
  /// Unscheduled bytes per message that we take without a grant; what we send unscheduled is the peer's number.
  std::uint32_t unscheduled_bytes = 64 * 1024;
  /// Memory for messages arriving or not yet taken by the application. At least one message of maximum length fits.
  std::uint64_t receive_memory = (std::uint64_t{1} << 30) + (std::uint64_t{256} << 20);
  /// Memory that all shards share instead of receive_memory; may be null.
  SharedBudget* shared_receive_memory = nullptr;
  std::uint32_t max_associations = 1u << 14;
  /// Requests and one-way messages in progress of all clients together; beyond it new ones are not acknowledged.
  std::uint32_t max_requests = 1u << 18;
  /// Associations whose client has not yet proven its address by echoing our id (architecture: a fixed table).
  std::uint32_t max_unproven_associations = 1024;

  // --- what we ask of ourselves as a sender ------------------------------------------------------------------
  /// Calls and one-way messages waiting for a free slot of one peer; beyond it: would_block.
  std::uint32_t max_waiting_calls = 4096;
  /// Payload bytes handed over and not yet acknowledged, of all peers together; beyond it: would_block.
  std::uint64_t send_memory = std::uint64_t{4} << 30;

  // --- packets -----------------------------------------------------------------------------------------------
  std::uint16_t initial_datagram = 1452;  ///< UDP payload that fits an MTU of 1500 over IPv6 (1500 - 40 - 8)
  std::uint16_t max_datagram = 8952;      ///< probed for upward (RFC 8899); MTU 9000 over IPv6
  std::uint16_t min_datagram = 1232;      ///< IPv6 minimum MTU 1280 - 48 (RFC 8200 section 5); always assumed to pass
  /// Priority levels that the network tells apart (8, 4, 2 or 1).
  std::uint8_t priority_levels = 8;

  // --- grants (SIGCOMM'18 sections 3.3 to 3.5; Linux 2025 settings) -------------------------------------------
  FixedPolicy fixed_policy;  ///< instead of measured windows, rates and cutoffs
  std::uint8_t overcommitment = 8;
  /// Upper bound of bytes granted and not received, all messages together; RTTbytes may ask for less.
  std::uint64_t max_incoming = 1024 * 1024;
  /// Bytes granted and not received, all shards together; may be null.
  SharedBudget* shared_incoming = nullptr;
  /// Part of grants, and of transmissions, that goes to the oldest message instead of the shortest.
  double oldest_share = 0.05;
  /// Bit i set: messages of class i are ordered by deadline first, not by bytes left (those without one come last).
  std::uint32_t deadline_classes = 0;
  /// The more responses are expected, the less of each may come unscheduled (SIGCOMM'18 section 3.6). Off only to show
  /// what it is good for.
  bool incast_control = true;
  /// Rate of the host's links when it is known; zero: measure.
  Rate downlink;
  Rate uplink;
  /// Backlog that we leave in the NIC or queueing discipline, as time at the uplink's rate (ATC'21 section 5), and the
  /// length of a train that joins it: a short message waits for both. Linux Homa leaves as much.
  Duration nic_budget = 5us;

  // --- times -------------------------------------------------------------------------------------------------
  Duration initial_probe_timeout = 2ms;
  /// A complete message's acknowledgment may wait so long for company. Peers add it to their probe timeout, so it is
  /// half of the architecture's millisecond: two losses in one call then cost about what the bound allows for one.
  Duration max_ack_delay = 500us;
  Duration ping_interval = 500ms;      ///< silence of a peer that we wait for, before we ask whether it lives
  Duration peer_timeout = 5s;          ///< silence despite probes, after which the peer counts as dead
  Duration idle_timeout = 30s;         ///< T of the architecture: an idle association may be forgotten after it
  Duration mtu_probe_interval = 600s;  ///< RFC 8899 PMTU_RAISE_TIMER

  /// Test builds only: bit set of planted defects (src/protocol/defects.h). The product ignores it.
  std::uint32_t defects = 0;
};

}  // namespace homa::protocol
