// Ideal shortest-remaining-first with global knowledge: the bound that no protocol of this fabric can beat by much.
//
// Links of hosts are the only resource: a host sends one message at a time and receives one. At every moment the
// shortest message of all goes on, then the shortest of those that share no host with it, and so on; a shorter one that
// comes interrupts at once. Grants cost nothing, links inside the fabric are never busy, and the path adds what it adds
// in an empty network (UnloadedTimes): a message that never waits has slowdown 1.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "simulation/unloaded.h"
#include "testing/event_loop.h"

namespace homa::simulation {

class Oracle final : public sim::EventTarget {
 public:
  /// `when` is later than now: the last byte leaves now.
  using Delivered =
      std::function<void(std::uint32_t source, std::uint32_t destination, std::uint64_t length, Time when)>;

  Oracle(sim::EventLoop& loop, const Topology& topology, UnloadedTimes& unloaded, Delivered delivered);
  void start(std::uint32_t source, std::uint32_t destination, std::uint64_t length);
  void on_event(std::uint8_t kind, std::uint64_t argument) override;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Message {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::uint64_t length = 0;
    std::uint64_t age = 0;
    Duration on_link{0};    ///< that the whole message takes on a host's link
    Duration remaining{0};  ///< of it, when it was last interrupted
    Time running_since{};
    bool running = false;
    std::uint32_t generation = 0;  ///< of its pending end
  };
  /// Shortest first, then oldest. Of waiting messages: theirs does not change.
  struct Key {
    Duration remaining;
    std::uint64_t age;
    std::uint32_t message;
    friend bool operator<(const Key& a, const Key& b) {
      return a.remaining != b.remaining ? a.remaining < b.remaining : a.age < b.age;
    }
  };
  struct Host {
    std::set<Key> out;  // waiting
    std::set<Key> in;
    std::uint32_t sending = kNone;
    std::uint32_t receiving = kNone;
  };
  Key key(std::uint32_t number) const;
  bool would_yield(std::uint32_t running, const Key& key) const { return running == kNone || key < this->key(running); }
  bool may_run(const Key& key) const;
  void run(std::uint32_t number);
  void interrupt(std::uint32_t number);
  void release(const Message& message);
  void fill_sender(std::uint32_t host);
  void fill_receiver(std::uint32_t host);

  sim::EventLoop& loop_;
  const Topology topology_;
  UnloadedTimes& unloaded_;
  Delivered delivered_;
  std::vector<Host> hosts_;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_;
  std::uint64_t next_age_ = 0;
};

}  // namespace homa::simulation
