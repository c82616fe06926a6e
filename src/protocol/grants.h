// Who may send scheduled bytes to us: the receiver's half of Homa (SIGCOMM'18 sections 3.3 to 3.5).
//
// Keeps the messages that want grants in order (shortest first, one per sending host before a second of the same host),
// the best `overcommitment` of them active. Hosts are named by IP address, so that many associations of one host count
// as one sender. Every operation costs O(log n) in messages and O(overcommitment). Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/address.h"
#include "base/heap.h"
#include "protocol/config.h"
#include "protocol/message.h"

namespace homa::protocol {

/// Messages that fell silent come after all others.
struct GrantOrder {
  bool operator()(const InMessage& a, const InMessage& b) const {
    if (a.stalled != b.stalled) return b.stalled;
    return a.key() < b.key();
  }
};

/// A sending host and its messages that wait to become active.
struct Host {
  std::uint32_t slab_index = 0;
  std::uint32_t slab_generation = 0;
  HostAddress address;
  std::uint32_t associations = 0;
  std::uint32_t active = 0;  ///< of its messages, how many are active
  Heap<InMessage, &InMessage::grant_hook, GrantOrder> waiting;
  HeapHook host_hook;
};

/// What one round of granting goes by; the core measures it.
struct GrantSettings {
  std::uint64_t max_incoming = 0;               ///< all messages together
  std::uint64_t smallest_step = 1;              ///< no grant for less, unless it is the rest of a message
  std::uint64_t whole_packet = 0;               ///< fixed policy: grants are rounded up to packets of so many bytes
  std::uint64_t allowance = ~std::uint64_t{0};  ///< pacing: bytes that this round may grant
  std::uint8_t scheduled_levels = 1;
  std::uint8_t lowest_level = 0;
};

class GrantScheduler {
 public:
  explicit GrantScheduler(const Config& config);

  /// The message wants grants: authorised < length, memory is there, host is set.
  void add(InMessage& message);
  /// It wants no more, or is gone. No-op when it is not here.
  void remove(InMessage& message);
  /// Its key changed: bytes arrived, or its class became known. No-op when it is not here.
  void reorder(InMessage& message);
  /// Authorised though silent for two round trips: loses its place and its part of the total until bytes arrive.
  void stall(InMessage& message);
  bool contains(const InMessage& message) const { return ages_.contains(message); }

  /// Makes the total agree with the message's authorised and not yet received bytes.
  void count_incoming(InMessage& message);
  void forget_incoming(InMessage& message);
  std::uint64_t total_incoming() const { return total_incoming_; }

  /// Moves limits; calls grant(InMessage&) for each message whose `authorised` it raised. Returns the bytes granted.
  template <typename Grant>
  std::uint64_t run(const GrantSettings& settings, Grant&& grant) {
    std::uint64_t granted = 0;
    fill_active();
    granted += favour_oldest(settings, grant);
    const std::uint64_t of_the_oldest = granted;
    for (std::size_t rank = 0; rank < active_.size(); ++rank) {
      InMessage& message = *active_[rank];
      const std::uint64_t step = next_step(message, settings, settings.allowance - granted);
      if (step == 0) continue;
      authorise(message, step, level_of(rank, settings));
      granted += step;
      grant(message);
    }
    oldest_credit_ += static_cast<double>(granted - of_the_oldest) * oldest_share_;
    retire_authorised();
    return granted;
  }

  bool wants_grants() const { return !ages_.empty(); }
  std::size_t memory_bytes() const { return hosts_.memory_bytes() + ages_.memory_bytes(); }

 private:
  struct BetterHost {
    bool operator()(const Host& a, const Host& b) const;
  };
  struct Older {
    bool operator()(const InMessage& a, const InMessage& b) const { return a.age < b.age; }
  };

  // The share of the oldest comes before the others, or they would leave it no room. Credit that it cannot use, because
  // it is silent, does not pile up beyond a window.
  template <typename Grant>
  std::uint64_t favour_oldest(const GrantSettings& settings, Grant&& grant) {
    InMessage* oldest = ages_.top();
    if (oldest == nullptr || oldest_credit_ < static_cast<double>(settings.smallest_step)) return 0;
    oldest_credit_ = std::min(oldest_credit_, static_cast<double>(std::max(oldest->window, settings.smallest_step)));
    if (oldest->authorised > oldest->received_bytes + oldest->window) return 0;
    const std::uint64_t step =
        step_to(*oldest, oldest->authorised + static_cast<std::uint64_t>(oldest_credit_), settings, settings.allowance);
    if (step == 0) return 0;
    oldest_credit_ -= static_cast<double>(step);
    const auto at = std::find(active_.begin(), active_.end(), oldest);
    authorise(*oldest, step,
              at == active_.end() ? Priority{settings.lowest_level}
                                  : level_of(static_cast<std::size_t>(at - active_.begin()), settings));
    grant(*oldest);
    return step;
  }

  std::uint64_t next_step(const InMessage& message, const GrantSettings& settings, std::uint64_t allowance) const;
  std::uint64_t step_to(const InMessage& message, std::uint64_t target, const GrantSettings& settings,
                        std::uint64_t allowance) const;
  void authorise(InMessage& message, std::uint64_t step, Priority priority);
  static Priority level_of_rank(std::size_t rank, std::size_t active, const GrantSettings& settings);
  Priority level_of(std::size_t rank, const GrantSettings& settings) const {
    return level_of_rank(rank, active_.size(), settings);
  }
  void fill_active();
  void prefer_shorter_of_same_host();
  void retire_authorised();
  std::size_t worst_active(std::uint32_t& rank_in_host) const;
  void activate(InMessage& message);
  void deactivate(InMessage& message);
  void enqueue(InMessage& message);
  void dequeue(InMessage& message);
  void refresh_host(Host& host);

  std::uint8_t overcommitment_;
  double oldest_share_;
  SharedBudget* shared_;
  std::uint64_t total_incoming_ = 0;
  double oldest_credit_ = 0;                           // bytes that the oldest message has earned
  std::vector<InMessage*> active_;                     // best first, at most overcommitment_
  Heap<Host, &Host::host_hook, BetterHost> hosts_;     // hosts with waiting messages
  Heap<InMessage, &InMessage::age_hook, Older> ages_;  // all that want grants, the oldest on top
};

}  // namespace homa::protocol
