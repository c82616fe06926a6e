// The one interface behind which `homa bench` compares transports.
//
// A *service* is the far end; `homa bench serve` makes one per run on its core, as the client's settings ask. A *peer*
// is the near end, driven by one thread. udp-blast is no RPC and has a function of its own (udp_blast.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/address.h"
#include "base/time.h"

namespace homa::tools {

enum class Wait { poll, adaptive, block };

/// What both ends must agree on; travels to `homa bench serve` as JSON.
struct PeerSettings {
  std::string transport = "homa";  ///< homa | tcp | udp-blast | udp-echo
  Wait wait = Wait::poll;
  bool response_same = false;        ///< the response is as long as the request
  std::uint64_t response_bytes = 8;  ///< otherwise
  std::uint64_t max_message = std::uint64_t{1} << 30;
  std::string congestion = "cubic";  ///< tcp: TCP_CONGESTION of both ends
  int segment = 1452;                ///< udp-blast: UDP payload of a packet
  int train = 63 * 1000;             ///< udp-blast: bytes of one segmented send
  unsigned shards = 1;               ///< homa: shards of the server
  bool spinner = false;              ///< a SCHED_IDLE spinner keeps the core awake

  std::uint64_t response_to(std::uint64_t request) const { return response_same ? request : response_bytes; }
};

nlohmann::json to_json(const PeerSettings& settings);
/// Throws Failure on anything unexpected: it came over the network.
PeerSettings settings_from_json(const nlohmann::json& json);
/// Throws Failure when a value is out of range.
void check(const PeerSettings& settings);
Wait parse_wait(const std::string& text);
const char* to_text(Wait wait);

/// What the far end saw.
struct ServiceReport {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;    ///< payload received
  Duration busy{};            ///< first to last arrival
  std::uint64_t dropped = 0;  ///< datagrams that the socket had no room for
};

class Service {
 public:
  virtual ~Service() = default;
  virtual std::uint16_t port() const = 0;
  /// Serves on the calling thread until `stop` is set; looks at it at least every 50 ms.
  virtual void run(const std::atomic<bool>& stop) = 0;
  virtual ServiceReport report() const = 0;
};

/// Opens the far end at the address where the control connection came in.
std::unique_ptr<Service> make_service(const PeerSettings& settings, const Address& bind);

class Peer {
 public:
  /// A call that start() began has ended.
  using Done = std::function<void(std::uint32_t slot, bool ok)>;
  virtual ~Peer() = default;
  /// Begins a call of `bytes`; false: no room now, try again after wait(). `slot` is free again when Done has run.
  virtual bool start(std::uint32_t slot, std::uint64_t bytes) = 0;
  /// Sends, receives, runs Done; returns when something happened or `most` has passed.
  virtual void wait(Duration most) = 0;
  void on_done(Done done) { done_ = std::move(done); }

 protected:
  Done done_;
};

std::unique_ptr<Peer> make_peer(const PeerSettings& settings, const Address& server, unsigned connections);

}  // namespace homa::tools
