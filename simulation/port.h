// An output port: strict-priority queues, a buffer, and the link behind it.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"
#include "simulation/packet.h"
#include "testing/event_loop.h"

namespace homa::simulation {

/// Kind of the event by which a packet arrives at a switch or a host; the argument is its pointer.
inline constexpr std::uint8_t kPacketArrives = 0;

/// Cut-through: preamble and the smallest frame, which a switch reads before it decides.
inline constexpr std::uint32_t kDecisionBytes = 72;

/// Memory that the ports of one switch share. A port may use `alpha` times what is free (Choudhury and Hahne 1998).
struct SharedBuffer {
  std::uint64_t total = 0;
  double alpha = 1;
  std::uint64_t used = 0;
  std::uint64_t limit() const { return static_cast<std::uint64_t>(alpha * static_cast<double>(total - used)); }
};

struct PortSettings {
  Rate rate;
  std::uint64_t buffer_bytes = ~std::uint64_t{0};  ///< of waiting frames; without a shared buffer
  SharedBuffer* shared = nullptr;
  std::uint64_t ecn_threshold_bytes = 0;  ///< 0: never mark
  /// Who the link leads to, and the time from the last bit off this port until that one may act on the packet.
  sim::EventTarget* far_end = nullptr;
  Duration delay{0};
  bool one_queue = false;    ///< first in first out, whatever the priority: most network cards
  bool cut_through = false;  ///< the far end may pass a packet on before its last bit has arrived
};

/// How integers of nanoseconds add up to a rate: whatever is left of a nanosecond goes to the next frame.
class LinkClock {
 public:
  explicit LinkClock(Rate rate)
      : per_byte_(static_cast<std::uint64_t>(1e9 * kUnit / static_cast<double>(rate.bytes_per_second()) + 0.5)) {}
  /// Of a frame that follows the one before without a gap.
  Duration next(std::uint32_t bytes) {
    const std::uint64_t units = bytes * per_byte_ + rest_;
    rest_ = units & (kUnits - 1);
    return Duration(static_cast<Duration::rep>(units >> kUnitBits));
  }
  Duration of(std::uint32_t bytes) const {
    return Duration(static_cast<Duration::rep>((bytes * per_byte_) >> kUnitBits));
  }
  /// The link fell silent.
  void idle() { rest_ = 0; }

 private:
  static constexpr int kUnitBits = 24;
  static constexpr std::uint64_t kUnits = std::uint64_t{1} << kUnitBits;
  static constexpr double kUnit = static_cast<double>(kUnits);
  std::uint64_t per_byte_;  // in 2^-24 ns
  std::uint64_t rest_ = 0;
};

/// What a port has seen since reset().
struct PortCounts {
  std::uint64_t bytes_sent = 0;
  std::uint64_t max_waiting_bytes = 0;
  double waiting_byte_ns = 0;  ///< integral over time
  std::uint64_t dropped = 0;
  std::uint64_t marked = 0;
};

class Port final : public sim::EventTarget {
 public:
  Port(sim::EventLoop& loop, PacketPool& pool, const PortSettings& settings);

  /// Takes the packet: sends it now or when its turn comes, or drops it.
  void enqueue(Packet* packet);
  /// When the link will have sent all frames that have begun.
  Time free_at() const { return free_at_; }
  bool idle() const { return waiting_mask_ == 0 && loop_.now() >= free_at_; }
  std::uint64_t waiting_bytes() const { return waiting_bytes_; }
  Rate rate() const { return settings_.rate; }
  Duration time_of(std::uint32_t wire_bytes) const { return clock_.of(wire_bytes); }

  void reset_counts();
  /// Up to now.
  PortCounts counts() const;

  void on_event(std::uint8_t kind, std::uint64_t argument) override;

 private:
  struct Fifo {
    Packet* head = nullptr;
    Packet* tail = nullptr;
  };
  bool has_room(const Packet& packet) const;
  void wait(Packet* packet);
  Packet* take_next();
  void start(Packet* packet);
  void note_waiting();

  sim::EventLoop& loop_;
  PacketPool& pool_;
  const PortSettings settings_;
  LinkClock clock_;
  Time free_at_{};
  std::array<Fifo, kPriorityLevels> queues_{};
  std::uint32_t waiting_mask_ = 0;  // bit per queue that is not empty; then an event at free_at_ is pending
  std::uint64_t waiting_bytes_ = 0;
  Time waiting_since_{};  // of the present waiting_bytes_
  PortCounts counts_;
};

}  // namespace homa::simulation
