// Fault knobs: what a network does to datagrams besides carrying them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "testing/packet_kind.h"
#include "testing/parcel.h"

namespace homa::sim {

/// One disturbance: which datagrams it looks at, and what it does to them. Values; several rules act one after another.
struct FaultRule {
  // --- which -------------------------------------------------------------------------------------------------
  std::optional<HostAddress> from;
  std::optional<HostAddress> to;
  Time begin{};
  Time end = kNever;                        ///< not at this time any more
  std::uint32_t kinds = kAnyKind;           ///< only datagrams with at least one of these (PacketKind)
  std::uint32_t without_kinds = 0;          ///< and none of these
  std::uint32_t above_size = 0;             ///< only UDP payloads longer than this
  std::uint64_t skip = 0;                   ///< lets the first so many that match pass
  std::uint64_t count = ~std::uint64_t{0};  ///< acts on so many of those that match and are not skipped

  // --- what --------------------------------------------------------------------------------------------------
  double loss = 0;  ///< probability; 1 with `count` drops chosen packets
  DropReason reason = DropReason::random_loss;
  double burst_begin = 0;          ///< Gilbert-Elliott: probability per packet to enter the bad state
  double burst_end = 0.2;          ///< and to leave it; in it nothing passes
  double corrupt = 0;              ///< flips bits: the modelled UDP checksum drops the datagram at the receiver
  double duplicate = 0;            ///< sends a copy later as well
  Duration duplicate_delay = 1ms;  ///< at most so much later
  double reorder = 0;              ///< holds a packet back while others pass
  Duration reorder_delay = 100us;  ///< at most so long
  Duration extra_delay{};          ///< holds every packet for this time; order is kept
  double truncated_copy = 0;       ///< a shortened copy arrives as well, as stray traffic would look like
  double foreign_copy = 0;         ///< a copy arrives from another source address as well (replay)
};

/// Applies rules to what passes. Sits between the hosts' uplinks and the switch.
class FaultInjector final : public Sink, public EventTarget {
 public:
  FaultInjector(Medium& medium, Sink& next, std::uint64_t seed) : medium_(medium), next_(next), rng_(seed) {}

  /// Returns the rule's index, for acted_on().
  std::size_t add(const FaultRule& rule);
  /// Datagrams to which the rule did something.
  std::uint64_t acted_on(std::size_t rule) const { return states_[rule].acted; }
  void clear() { states_.clear(); }

  void receive(Parcel* parcel) override;
  void on_event(std::uint8_t kind, std::uint64_t argument) override;

 private:
  struct State {
    FaultRule rule;
    std::uint64_t matched = 0;
    std::uint64_t acted = 0;
    bool in_burst = false;
  };
  bool matches(State& state, const Parcel& parcel) const;
  bool in_turn(State& state) const;
  std::optional<DropReason> fate(State& state);
  void copies(State& state, const Parcel& parcel);
  void send_later(Parcel* parcel, Duration delay);
  Duration up_to(Duration most) {
    return Duration(static_cast<Duration::rep>(rng_.unit() * static_cast<double>(most.count())));
  }

  Medium& medium_;
  Sink& next_;
  Rng rng_;
  std::vector<State> states_;
};

/// Rules for the commonest wishes.
FaultRule lose(double probability, Time begin = Time{}, Time end = kNever);
/// Drops `count` datagrams with any of `kinds`, after letting `skip` pass.
FaultRule drop_nth(std::uint32_t kinds, std::uint64_t skip, std::uint64_t count = 1);
/// Nothing passes from `from` to `to`; for both ways use two.
FaultRule partition(const HostAddress& from, const HostAddress& to, Time begin, Time end);
/// Datagrams above `size` bytes vanish.
FaultRule black_hole(std::uint32_t size, Time begin = Time{}, Time end = kNever);

}  // namespace homa::sim
