// An output-queued switch: per port eight first-in first-out queues in strict priority, and a finite buffer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "testing/link.h"
#include "testing/parcel.h"

namespace homa::sim {

struct PortSettings {
  LinkSettings link;
  std::uint64_t buffer_bytes =
      1024 * 1024;                  ///< all queues together, UDP payload plus overhead; what exceeds it is lost
  std::uint64_t ecn_threshold = 0;  ///< mark when more is queued; 0: never
  bool strict_priority = true;      ///< false: one queue, as in a plain network card
};

/// Told when a packet has left a port.
class PortListener {
 public:
  virtual void packet_left(std::uint32_t bytes) = 0;

 protected:
  ~PortListener() = default;
};

/// An output port and the link behind it.
class Port final : public Sink, public EventTarget {
 public:
  Port(Medium& medium, const PortSettings& settings, Sink& far_end, PortListener* listener = nullptr);

  void receive(Parcel* parcel) override;
  /// Bytes queued, with overhead; the packet that is being sent counts until it has left.
  std::uint64_t backlog() const { return backlog_; }
  std::uint64_t peak_backlog() const { return peak_backlog_; }
  bool idle() const { return sending_ == nullptr; }
  const PortSettings& settings() const { return settings_; }

  void on_event(std::uint8_t kind, std::uint64_t argument) override;

 private:
  struct Fifo {
    Parcel* head = nullptr;
    Parcel* tail = nullptr;
  };
  enum Kind : std::uint8_t { kLeft, kArrived };

  std::uint64_t wire_size(const Parcel& parcel) const { return parcel.size() + settings_.link.overhead; }
  Parcel* take_next();
  void start_next();

  Medium& medium_;
  const PortSettings settings_;
  Sink& far_end_;
  PortListener* listener_;
  SerializationClock clock_;
  std::array<Fifo, kPriorityLevels> queues_{};
  std::uint32_t waiting_ = 0;  // bit per queue that is not empty
  Parcel* sending_ = nullptr;
  std::uint64_t backlog_ = 0;
  std::uint64_t peak_backlog_ = 0;
};

/// Forwards by destination host. Routes may change while packets are under way.
class Switch final : public Sink {
 public:
  explicit Switch(Medium& medium) : medium_(medium) {}
  Port& add_port(const PortSettings& settings, Sink& far_end);
  void set_route(const HostAddress& host, Port& port);
  void remove_route(const HostAddress& host);
  void receive(Parcel* parcel) override;

 private:
  struct Route {
    HostAddress host;
    Port* port;
  };
  Medium& medium_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<Route> routes_;  // sorted by address bytes
};

}  // namespace homa::sim
