// A simulated host: one protocol endpoint, the process around it, its network card and its socket.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/rng.h"
#include "protocol/endpoint.h"
#include "testing/memory.h"
#include "testing/packet_kind.h"
#include "testing/switch.h"
#include "testing/verdict.h"

namespace homa::sim {

struct HostSettings {
  std::string name = "host";
  Address address;
  protocol::Config config;
  std::uint64_t seed = 1;
  LinkSettings uplink;

  // --- how its driver behaves --------------------------------------------------------------------------------
  std::uint32_t nic_room = 16 * 1024;  ///< asks for the next train while less than this waits in the card
  bool report_drain = true;
  bool report_backlog = true;
  std::uint32_t interface_limit = 65507;  ///< larger UDP payloads: EMSGSIZE
  std::uint64_t socket_buffer = 1 << 20;  ///< for what arrives while the process sleeps
  bool two_steps = false;                 ///< place(), copy, commit() instead of receive()
  double open_failure = 0;                ///< with two_steps: places, writes garbage there, and does not commit
  std::uint64_t incoming_factor = 2;      ///< what checkers allow of max_incoming; more where senders stall
  std::uint64_t buffer_limit = ~std::uint64_t{0};  ///< of the BufferSource
};

class Host;

/// What runs on a host. Answers through host.endpoint(); need not call host.kick() from inside these.
class HostApplication {
 public:
  virtual ~HostApplication() = default;
  virtual void on_event(Host& host, const protocol::Event& event) = 0;
  /// The process died: forget every handle.
  virtual void on_crash(Host&) {}
  /// A new process runs.
  virtual void on_boot(Host&) {}
};

class Host final : public Sink, public PortListener, public EventTarget {
 public:
  Host(Medium& medium, Verdict& verdict, const HostSettings& settings, Sink& uplink_end);
  ~Host();

  protocol::Endpoint& endpoint() { return *endpoint_; }
  const HostSettings& settings() const { return settings_; }
  const Address& address() const { return settings_.address; }
  CountingBuffers& buffers() { return *buffers_; }
  PayloadStore& payloads() { return payloads_; }
  Port& nic() { return nic_; }
  Rng& rng() { return rng_; }
  Medium& medium() { return medium_; }
  Time now() const { return medium_.loop.now(); }
  void set_application(HostApplication* application) { application_ = application; }
  void set_trace(protocol::TraceSink* sink);
  /// Called for datagrams that find nobody here: a model of ICMP port unreachable.
  std::function<void(const Parcel&)> on_unreachable;

  /// Serves the endpoint after the application did something outside of its callbacks.
  void kick();
  void receive(Parcel* parcel) override;
  void packet_left(std::uint32_t bytes) override;
  void on_event(std::uint8_t kind, std::uint64_t argument) override;

  // --- faults ------------------------------------------------------------------------------------------------
  /// The process gets no processor until `end`; its socket buffers.
  void pause(Time end);
  /// The application takes no events until `end`.
  void stop_reading(Time end);
  void resume_reading() {
    not_reading_until_ = now();
    kick();
  }
  Time paused_until() const { return paused_until_; }
  void crash();
  bool running() const { return endpoint_ != nullptr; }
  /// A new process at the same address.
  void boot();
  /// Datagrams leave with another source address from now on. Routes are the caller's.
  void change_address(const Address& address) { settings_.address = address; }
  void set_interface_limit(std::uint32_t limit) { settings_.interface_limit = limit; }

  // --- observed ----------------------------------------------------------------------------------------------
  /// Processes that ran here, one after the other.
  std::uint64_t lives() const { return lives_; }
  std::uint64_t trains() const { return trains_; }
  std::uint64_t too_big() const { return too_big_; }
  std::uint64_t peak_core_memory() const { return peak_core_memory_; }
  /// Checks usage() against the configuration; also done by itself every few packets.
  void check_usage();

 private:
  enum Kind : std::uint8_t { kTimer, kResume, kRead };

  void process(Parcel* parcel);
  void take(Parcel* parcel);
  void take(const protocol::Datagram& datagram);
  void take_in_two_steps(const protocol::Datagram& datagram);
  void service();
  void drain_events();
  void pump();
  void send(const protocol::Train& train);
  wire::DecodeError read_kinds(Parcel& parcel);
  void arm();

  Medium& medium_;
  Verdict& verdict_;
  HostSettings settings_;
  Rng rng_;
  PayloadStore payloads_;
  std::unique_ptr<CountingBuffers> buffers_;
  std::vector<std::unique_ptr<CountingBuffers>> old_buffers_;  // of dead processes
  std::unique_ptr<protocol::Endpoint> endpoint_;
  HostApplication* application_ = nullptr;
  protocol::TraceSink* trace_ = nullptr;
  Port nic_;
  std::deque<Parcel*> socket_;
  std::uint64_t socket_bytes_ = 0;
  std::unique_ptr<protocol::Train> train_;
  std::unique_ptr<protocol::Arrival> arrival_;
  std::unique_ptr<wire::Frame> frame_;

  bool in_service_ = false;
  bool service_again_ = false;
  bool card_full_ = false;  // the last pump stopped for want of room
  Time paused_until_{};
  Time not_reading_until_{};
  Time armed_ = kNever;
  std::uint64_t timer_generation_ = 0;
  std::uint64_t lives_ = 0;
  std::uint64_t services_ = 0;
  std::uint32_t spins_ = 0;
  Time last_spin_{};
  std::uint64_t trains_ = 0;
  std::uint64_t too_big_ = 0;
  std::uint64_t peak_core_memory_ = 0;
};

}  // namespace homa::sim
