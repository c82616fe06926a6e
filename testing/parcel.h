// A datagram under way in the simulated network, and what all parts of the network share.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/address.h"
#include "base/bytes.h"
#include "base/units.h"
#include "testing/event_loop.h"

namespace homa::sim {

/// One UDP datagram. Lives in a ParcelPool; whoever holds the pointer passes it on or gives it back.
struct Parcel {
  Address from;
  Address to;
  Priority priority{};
  Ecn ecn = Ecn::not_ect;
  bool corrupt = false;      ///< some bit was flipped: the modelled UDP checksum fails
  bool hostile = false;      ///< made by nobody who takes part
  bool duplicate = false;    ///< a copy made by the network
  bool native = false;       ///< a native packet, not a datagram frame
  std::uint32_t kinds = 0;   ///< what is inside: bits of PacketKind (packet_kind.h)
  std::uint64_t number = 0;  ///< counts the parcels of a run
  Time sent{};
  std::vector<std::byte> bytes;  ///< the UDP payload; its capacity survives reuse
  Parcel* next = nullptr;        ///< of the queue that holds it

  std::uint32_t size() const { return static_cast<std::uint32_t>(bytes.size()); }
  ByteView view() const { return {bytes.data(), bytes.size()}; }
};

class ParcelPool {
 public:
  Parcel* take() {
    if (free_ == nullptr) {
      storage_.emplace_back();
      free_ = &storage_.back();
      free_->next = nullptr;
    }
    Parcel* parcel = free_;
    free_ = parcel->next;
    std::vector<std::byte> bytes = std::move(parcel->bytes);
    *parcel = Parcel();
    bytes.clear();
    parcel->bytes = std::move(bytes);
    parcel->number = ++taken_;
    ++live_;
    return parcel;
  }
  Parcel* copy(const Parcel& original) {
    Parcel* parcel = take();
    const std::uint64_t number = parcel->number;
    std::vector<std::byte> bytes = std::move(parcel->bytes);
    bytes.assign(original.bytes.begin(), original.bytes.end());
    parcel->bytes = std::move(bytes);
    parcel->from = original.from;
    parcel->to = original.to;
    parcel->priority = original.priority;
    parcel->ecn = original.ecn;
    parcel->kinds = original.kinds;
    parcel->hostile = original.hostile;
    parcel->native = original.native;
    parcel->corrupt = original.corrupt;
    parcel->sent = original.sent;
    parcel->number = number;
    return parcel;
  }
  void give(Parcel* parcel) {
    parcel->next = free_;
    free_ = parcel;
    --live_;
  }
  std::uint64_t live() const { return live_; }
  std::uint64_t taken() const { return taken_; }

 private:
  std::deque<Parcel> storage_;
  Parcel* free_ = nullptr;
  std::uint64_t live_ = 0;
  std::uint64_t taken_ = 0;
};

enum class DropReason : std::uint8_t {
  queue_full,
  no_route,  ///< nobody has the destination address
  random_loss,
  burst_loss,
  chosen,  ///< a test asked for this very packet
  partition,
  too_big,      ///< MTU black hole
  corrupt,      ///< the UDP checksum saw it
  socket_full,  ///< the receiving process slept too long
  not_opened,   ///< the receiver's driver could not open it
};
const char* to_string(DropReason reason);

/// Sees every datagram; for traces and checkers.
class PacketObserver {
 public:
  virtual void sent(const Parcel& parcel) = 0;
  virtual void delivered(const Parcel& parcel) = 0;
  virtual void dropped(const Parcel& parcel, DropReason reason) = 0;

 protected:
  ~PacketObserver() = default;
};

/// Takes parcels, and with them the duty to pass them on or give them back.
class Sink {
 public:
  virtual void receive(Parcel* parcel) = 0;

 protected:
  ~Sink() = default;
};

/// What all parts of one simulated network share.
struct Medium {
  EventLoop loop;
  ParcelPool pool;
  std::vector<PacketObserver*> observers;

  void sent(const Parcel& parcel) {
    for (PacketObserver* observer : observers) observer->sent(parcel);
  }
  void delivered(const Parcel& parcel) {
    for (PacketObserver* observer : observers) observer->delivered(parcel);
  }
  void drop(Parcel* parcel, DropReason reason) {
    for (PacketObserver* observer : observers) observer->dropped(*parcel, reason);
    pool.give(parcel);
  }
};

}  // namespace homa::sim
