// A host that runs the product's core on a simulated link.
//
// Time in software is a delay, not a load: any number of packets may be in it at once, as SIGCOMM'18 assumed. The
// delays stand on the links (Fabric), so that a packet costs one event here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "protocol/endpoint.h"
#include "simulation/fabric.h"
#include "simulation/payload_space.h"
#include "simulation/run_result.h"

namespace homa::simulation {

class ProtocolHost;

/// The application of all hosts. May start and answer messages from within.
class HostListener {
 public:
  virtual void one_way_arrived(ProtocolHost& host, std::uint32_t source, std::uint64_t length, Time when) = 0;
  virtual void request_arrived(ProtocolHost& host, protocol::RequestId request, std::uint64_t length) = 0;
  /// Calls, and one-way messages when the core is done with them.
  virtual void finished(ProtocolHost& host, std::uint64_t cookie, protocol::CallStatus status, std::uint64_t length,
                        Time when) = 0;

 protected:
  ~HostListener() = default;
};

/// What the hosts of one simulation share.
struct HostSetting {
  protocol::Config config;
  bool native = true;
  double loss_rate = 0;  ///< of frames that arrive
  bool ecn_capable = false;
  PayloadSpace* space = nullptr;
  HostListener* listener = nullptr;
  std::vector<Address> addresses;  ///< by host
  TrafficStatistics traffic;       ///< of frames that arrived
  std::uint64_t random_losses = 0;
  // Scratch, large.
  protocol::Train train;
  protocol::Arrival arrival;
  std::array<std::byte, 16384> frame{};
};

/// 10.x.y.z by number.
Address address_of_host(std::uint32_t host);
std::uint32_t host_of_address(const HostAddress& address);

class ProtocolHost final : public sim::EventTarget {
 public:
  /// The fabric is given later, since it wants its hosts first.
  ProtocolHost(std::uint32_t number, std::uint64_t seed, HostSetting& setting);
  void attach(Fabric& fabric);

  std::uint32_t number() const { return number_; }
  void start_one_way(std::uint32_t destination, std::uint64_t length, std::uint64_t cookie);
  void start_call(std::uint32_t destination, std::uint64_t length, std::uint64_t cookie);
  void reply(protocol::RequestId request, std::uint64_t length);
  const protocol::Counters& counters() const { return endpoint_.counters(); }
  protocol::Endpoint& endpoint() { return endpoint_; }

  void on_event(std::uint8_t kind, std::uint64_t argument) override;

 private:
  static constexpr std::uint8_t kTimer = 1;  // argument: generation

  void start(std::uint32_t destination, std::uint64_t length, std::uint64_t cookie, bool one_way);
  void receive(Packet* packet);
  void note_arrival(const Packet& packet);
  /// After anything that may have given the core something to say.
  void serve();
  void drain_events();
  void pump();
  void send(const protocol::Segment& segment, const protocol::Train& train);
  void arm();
  protocol::Payload payload(std::uint64_t length);
  Time now() const { return fabric_->loop().now(); }

  const std::uint32_t number_;
  HostSetting& setting_;
  protocol::Endpoint endpoint_;
  Rng loss_;
  Fabric* fabric_ = nullptr;
  Port* uplink_ = nullptr;
  Duration delivery_lead_{0};
  bool serving_ = false;
  bool serve_again_ = false;
  Time armed_ = kNever;
  std::uint64_t generation_ = 0;
  std::vector<std::unique_ptr<ByteView>> pieces_;  // of payloads handed over
  std::vector<ByteView*> free_pieces_;
};

}  // namespace homa::simulation
