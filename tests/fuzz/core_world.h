// Two real endpoints, the wire between them, time, and what must hold of all of it.
//
// Always: no crash, usage within Config, each payload given back once, each call ended once, no more to the stranger
// than it may draw. While no frame was forged in a peer's name (in clear such a forger can always make a message hang):
// bytes equal, at most once, and when the faults end, all calls end and memory returns. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "core_host.h"
#include "core_story.h"
#include "core_stranger.h"

namespace homa::fuzz {

class World {
 public:
  struct Flying {
    Address from;
    Address to;
    std::vector<std::byte> bytes;
  };
  /// The header of a frame that was seen on the wire: what a forger knows.
  struct Seen {
    wire::FrameHeader header;
    Address from;
    Address to;
  };

  /// Settings come from the bits of `variant`.
  explicit World(std::uint8_t variant);

  Host& host(std::size_t which) { return hosts_[which & 1u]; }
  Host& other(const Host& host) { return &host == &hosts_[0] ? hosts_[1] : hosts_[0]; }
  Time now() const { return now_; }
  std::deque<Flying>& wire() { return wire_; }
  const std::deque<Seen>& seen() const { return seen_; }
  const Address& stranger() const { return stranger_.address; }
  /// Above every incarnation that was, and one more that never was.
  std::uint64_t incarnations() const { return lives_ + 2; }

  // --- what applications do ----------------------------------------------------------------------------------
  void call(Host& from, std::uint64_t length, protocol::CallOptions options);
  void answer(Host& who, std::size_t which, std::uint64_t length);
  void refuse(Host& who, std::size_t which);
  void release_last(Host& who);
  void restart(Host& who);
  void close(Host& who);

  // --- what the network does ---------------------------------------------------------------------------------
  /// `stays`: a copy remains on the wire.
  void deliver(std::size_t which, bool stays);
  void deliver_all();
  void lose(std::size_t which);
  void toggle_outage() { outage_ = !outage_; }
  void fail_next_send() { fail_next_ = true; }
  /// A frame in a peer's name is on the wire or comes in: no promise about messages holds any more.
  void forged() { forged_ = true; }
  void inject(const Flying& flying) { receive(flying); }
  void inject_from_stranger(const Flying& flying);

  // --- time --------------------------------------------------------------------------------------------------
  void pass(Duration time);
  /// Takes events and sends, until nothing moves.
  void pump();
  void check() const;
  /// The faults end. Everything that was begun ends too, and then nothing is left to do.
  void settle();

 private:
  void birth(Host& host);
  void receive(const Flying& flying);
  void send(Host& who);
  void note_sent(const Host& who, ByteView bytes);
  void take_events(Host& who);
  void judge(const protocol::Message& message, bool is_request);
  protocol::RequestId take_request(Host& who, std::size_t which);
  void answer_all(Host& who);
  void advance_all();
  Time next_deadline() const;
  bool settled() const;
  void settle_by_closing();
  void settle_by_waiting();
  void check_empty() const;

  Story stories_[2] = {Story(0), Story(1)};
  Host hosts_[2];
  Stranger stranger_;
  std::uint64_t lives_ = 0;
  std::uint64_t cookies_ = 0;
  Time now_{1s};
  std::deque<Flying> wire_;
  std::deque<Seen> seen_;
  std::vector<std::byte> flat_;
  std::set<std::uint64_t> executed_;    // tags of requests that ran
  std::set<std::uint64_t> idempotent_;  // tags of those that may run again
  bool forged_ = false;
  bool outage_ = false;
  bool fail_next_ = false;
};

}  // namespace homa::fuzz
