// Stray and hostile datagrams: port scans, garbage, forged frames, floods of HELLO from many addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "testing/parcel.h"

namespace homa::sim {

struct HostileSettings {
  std::vector<Address> targets;
  /// Addresses that take part; some forgeries claim to come from them. Off the path: nothing is known of their ids.
  std::vector<Address> participants;
  Duration mean_gap = 200us;
  Time end = kNever;
  std::uint64_t most = 1000;  ///< datagrams in all
};

/// Sends until its end. An attacker off the path: it sees nothing and guesses.
class HostileTraffic final : public EventTarget {
 public:
  HostileTraffic(Medium& medium, Sink& into, const HostileSettings& settings, std::uint64_t seed);
  void start() { schedule(); }
  std::uint64_t sent() const { return sent_; }
  void on_event(std::uint8_t kind, std::uint64_t argument) override;

 private:
  void schedule();
  void garbage(std::vector<std::byte>& bytes);
  void hello(std::vector<std::byte>& bytes, bool cut);
  void forged_frame(std::vector<std::byte>& bytes);
  Address source(bool spoofed);

  Medium& medium_;
  Sink& into_;
  HostileSettings settings_;
  Rng rng_;
  std::uint64_t sent_ = 0;
};

}  // namespace homa::sim
