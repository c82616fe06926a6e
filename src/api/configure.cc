#include "api/configure.h"

#include <algorithm>
#include <bit>
#include <string>

#include "homa/address.h"
#include "wire/packet.h"

namespace homa::api {
namespace {

/// The steering program and the ids could name 256; more than 64 is more likely a mistake than a machine.
constexpr unsigned kMaxShards = 64;
constexpr std::uint16_t kMinDatagram = 1232;       // IPv6 minimum MTU 1280 - 40 - 8
constexpr std::uint16_t kMaxDatagram = 65507 - 2;  // the largest UDP payload over IPv4, and room for nothing else

Error bad_option(std::string text) {
  return {ErrorCode::bad_option, std::move(text)};
}

Result<void> check(const EndpointOptions& options) {
  if (options.shards < 1 || options.shards > kMaxShards) return bad_option("shards: 1 .. 64");
  if (options.drive == Drive::caller && options.shards != 1) return bad_option("shards: 1 with Drive::caller");
  if (options.bind.host.is_multicast() || options.bind.host.is_broadcast()) {
    return Error(ErrorCode::no_address, "bind " + to_string(options.bind) + ": multicast or broadcast");
  }
  if (options.spin < Duration::zero()) return bad_option("spin: not negative");
  if (options.priorities.levels > 8 || !std::has_single_bit(options.priorities.levels)) {
    return bad_option("priorities.levels: 8, 4, 2 or 1");
  }
  const auto& dscp = options.priorities.dscp;
  if (std::any_of(dscp.begin(), dscp.end(), [](std::uint8_t value) { return value > 63; })) {
    return bad_option("priorities.dscp: 0 .. 63");
  }
  if (options.receive_buffer <= 0 || options.send_buffer <= 0) {
    return bad_option("receive_buffer, send_buffer: more than 0");
  }
  if (options.max_datagram < kMinDatagram || options.max_datagram > kMaxDatagram) {
    return bad_option("max_datagram: 1232 .. 65505");
  }
  if (options.uplink_gbps < 0 || options.downlink_gbps < 0)
    return bad_option("uplink_gbps, downlink_gbps: not negative");
  if (options.max_message_length == 0 || options.max_message_length > wire::kMaxMessageLength) {
    return bad_option("max_message_length: 1 .. 2^48 - 1");
  }
  if (options.receive_memory < options.max_message_length) {
    return bad_option("receive_memory: at least max_message_length");
  }
  if (options.send_memory < options.max_message_length) return bad_option("send_memory: at least max_message_length");
  if (options.peer_timeout <= Duration::zero() || options.idle_timeout <= Duration::zero()) {
    return bad_option("peer_timeout, idle_timeout: more than 0");
  }
  return {};
}

runtime::GroupSettings common(const EndpointOptions& options) {
  runtime::GroupSettings settings;
  settings.priorities = options.priorities;
  settings.drive = options.drive;
  settings.wait = options.wait;
  settings.spin = options.spin;
  settings.shards = options.shards;
  settings.cores = options.cores;
  settings.thread_name = options.thread_name;
  settings.bind = options.bind;
  settings.receive_buffer = static_cast<std::size_t>(options.receive_buffer);
  settings.send_buffer = static_cast<std::size_t>(options.send_buffer);

  protocol::Config& config = settings.config;
  config.max_message_length = options.max_message_length;
  config.receive_memory = options.receive_memory;
  config.send_memory = options.send_memory;
  config.max_datagram = options.max_datagram;
  config.initial_datagram = std::min(config.initial_datagram, options.max_datagram);
  config.priority_levels = options.priorities.levels;
  if (options.uplink_gbps > 0) config.uplink = Rate::gigabits_per_second(options.uplink_gbps);
  if (options.downlink_gbps > 0) config.downlink = Rate::gigabits_per_second(options.downlink_gbps);
  // A thread that sleeps needs tens of microseconds to wake: the queue below must last so long, or the link idles.
  if (options.wait != WaitMode::busy_poll) config.nic_budget = 100us;
  config.peer_timeout = options.peer_timeout;
  config.idle_timeout = options.idle_timeout;
  return settings;
}

}  // namespace

Result<runtime::GroupSettings> configure(const ClientOptions& options) {
  if (Result<void> checked = check(options); !checked) return checked.error();
  if (options.shards > 1 && options.bind.port != 0) {
    return bad_option("bind: port 0 with several shards, as each has a port of its own");
  }
  if (options.max_pending_calls == 0) return bad_option("max_pending_calls: at least 1");
  runtime::GroupSettings settings = common(options);
  settings.config.accepts = false;
  return settings;
}

Result<runtime::GroupSettings> configure(const ServerOptions& options) {
  if (Result<void> checked = check(options); !checked) return checked.error();
  if (options.slots == 0) return bad_option("slots: 1 .. 65535");
  if (options.max_clients == 0) return bad_option("max_clients: at least 1");
  runtime::GroupSettings settings = common(options);
  settings.one_port = true;
  settings.config.accepts = true;
  settings.config.slots = options.slots;
  settings.config.unscheduled_bytes = options.unscheduled_bytes;
  settings.config.max_associations = options.max_clients;
  return settings;
}

}  // namespace homa::api
