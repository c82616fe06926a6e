// Judges what is seen on the wire: no amplification toward unproven addresses, no storm of control packets.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/address.h"
#include "testing/packet_kind.h"
#include "testing/parcel.h"
#include "testing/verdict.h"

namespace homa::sim {

struct WireLimits {
  /// Bytes to an unproven address per byte from it (docs: "at most 3 x").
  std::uint64_t amplification = 3;
  /// Frames without DATA that a pair may exchange in one direction per window ...
  Duration window = 100ms;
  std::uint64_t control_per_window = 80;
  /// ... and those that each frame with DATA, either way, excuses: where it leaves, and where it arrives.
  std::uint64_t control_per_data = 4;
};

class WireChecker final : public PacketObserver {
 public:
  WireChecker(const EventLoop& loop, Verdict& verdict, const WireLimits& limits = WireLimits());

  /// `address` belongs to somebody whose packets are judged.
  void participant(const Address& address) { participants_.insert(key(address)); }
  /// A participant has another address now; whom it knew, it still knows.
  void moved(const Address& before, const Address& after);
  /// The application at `from` started a call to `to`: HELLOs may go there unasked.
  void initiated(const Address& from, const Address& to);

  std::uint64_t data_frames() const { return data_frames_; }
  std::uint64_t control_frames() const { return control_frames_; }

  void sent(const Parcel& parcel) override;
  void delivered(const Parcel& parcel) override;
  void dropped(const Parcel& parcel, DropReason reason) override;

 private:
  using AddressKey = std::tuple<std::array<std::uint8_t, 16>, std::uint32_t, std::uint16_t>;
  using PairKey = std::pair<AddressKey, AddressKey>;
  static AddressKey key(const Address& a) { return {a.host.ip, a.host.scope, a.port}; }

  /// What participant `first` and address `second` exchanged before the address proved itself.
  struct Contact {
    bool initiated = false;
    bool proven = false;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t frames_in = 0;
    std::uint64_t frames_out = 0;
    std::set<std::uint64_t> ids;  ///< that the participant told the address
  };
  struct Window {
    std::int64_t number = -1;
    std::uint64_t control = 0;
    std::uint64_t data = 0;
    std::uint64_t data_before = 0;  ///< of the window before
    bool blamed = false;
  };

  bool is_judged(const Parcel& parcel) const { return !parcel.hostile && participants_.count(key(parcel.from)) != 0; }
  std::int64_t window_number(Time time) const { return time.time_since_epoch() / limits_.window; }
  void count(const Parcel& parcel);
  void count_late_arrival(const Parcel& parcel);
  Window& window_of(const AddressKey& from, const AddressKey& to);
  void check_amplification(const Parcel& parcel);

  const EventLoop& loop_;
  Verdict& verdict_;
  WireLimits limits_;
  std::set<AddressKey> participants_;
  std::map<AddressKey, AddressKey> moved_;  ///< from where to where
  std::map<PairKey, Contact> contacts_;
  std::map<PairKey, Window> windows_;
  std::uint64_t data_frames_ = 0;
  std::uint64_t control_frames_ = 0;
};

/// Counts frames with DATA that reach the same process twice: each must show in its counters as a duplicate.
class DuplicateCounter final : public PacketObserver {
 public:
  /// Datagrams that arrived at `address` with bytes that had arrived there before.
  std::uint64_t arrived_again(const Address& address) const;
  void sent(const Parcel&) override {}
  void delivered(const Parcel& parcel) override;
  void dropped(const Parcel&, DropReason) override {}

 private:
  std::set<std::uint64_t> seen_;  ///< hashes of addresses and bytes: a number is never used twice, so neither are these
  std::map<std::uint64_t, std::uint64_t> again_;  ///< by the hash of the address
};

}  // namespace homa::sim
