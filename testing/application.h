// A simulated application: client and server in one, whose every act is noted in the ledger.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/rng.h"
#include "testing/checkers.h"
#include "testing/host.h"
#include "testing/ledger.h"

namespace homa::sim {

/// What a client asks for. Probabilities are per call.
struct Workload {
  std::vector<int> targets;  ///< indices of hosts
  std::uint64_t calls = 0;
  bool open_loop = true;
  Duration mean_gap = 50us;       ///< open loop: between calls
  std::uint32_t concurrency = 4;  ///< closed loop: calls at a time
  Time begin{};
  std::vector<std::uint64_t> sizes{0, 1, 8, 100, 1000};
  std::uint64_t byte_budget = ~std::uint64_t{0};  ///< requests and responses together; then everything is small
  std::uint32_t max_pieces = 1;
  std::uint8_t classes = 1;
  double one_way = 0.2;
  double idempotent = 0.1;
  double with_deadline = 0;
  Duration deadline = 20ms;  ///< at most
  double cancel = 0;
  Duration cancel_after = 2ms;  ///< at most
  double reply_later = 0;
  Duration service_time = 2ms;  ///< at most
  double never = 0;             ///< only calls with a deadline or a cancel; the server answers after their abort
  double refuse = 0;
  double hold_message = 0;  ///< the receiver keeps the memory of a message for up to `hold_time`
  Duration hold_time = 2ms;
};

class Peer;

/// All participants of a run, by index.
struct Cast {
  std::vector<Host*> hosts;
  std::vector<Peer*> peers;
};

class Peer final : public HostApplication, public EventTarget {
 public:
  Peer(int index, const Cast& cast, Ledger& ledger, Verdict& verdict, WireChecker& wire, const Workload& workload,
       std::uint64_t seed);

  /// Starts the workload.
  void start();
  /// One small call now, apart from the workload; returns its place in the ledger.
  Ledger::Index probe(int target);
  /// Starts a call of a test's own making. The record's times are filled in. Null when start() refused it.
  CallRecord* call(const CallRecord& wish, Ledger::Index* index = nullptr);
  bool cancel(Ledger::Index index);
  /// Nothing new; whatever is held or owed is given back and answered.
  void wind_up();
  /// The application shuts down in order: takes what has come, then closes its endpoint. Until the next boot it calls
  /// nobody.
  void close();
  bool closed() const { return closed_; }
  /// Is to close, but its process sleeps.
  bool closing() const { return closing_; }
  /// Gives up the calls of the workload that have not been started.
  void stop_starting() { left_ = due_ = 0; }
  /// The workload's calls have all been started, and nothing waits for a `writable` event.
  bool finished_starting() const { return left_ == 0 && due_ == 0 && !blocked_; }
  std::uint64_t times_blocked() const { return times_blocked_; }

  void on_event(Host& host, const protocol::Event& event) override;
  void on_crash(Host& host) override;
  void on_boot(Host&) override {
    closed_ = false;
    start_due();
  }
  void on_event(std::uint8_t kind, std::uint64_t argument) override;

 private:
  enum Kind : std::uint8_t { kArrival, kCancel, kReply, kGiveBack, kClose };
  struct Owed {
    protocol::RequestId request;
    Ledger::Index index = 0;
    bool anonymous = false;
    std::uint64_t length = 0;  ///< of the response
    bool refuse = false;
  };

  Host& host() { return *cast_.hosts[static_cast<std::size_t>(index_)]; }
  Time now() { return host().now(); }
  Duration up_to(Duration most);
  std::uint64_t draw_size();
  CallRecord draw_call();
  void start_due();
  bool try_start(const CallRecord& wish, Ledger::Index* index);
  void on_request(const protocol::Event& event);
  void on_finished(const protocol::Event& event);
  void on_aborted(const protocol::Event& event);
  void answer(const Owed& owed);
  void keep_or_release(const protocol::Message& message);

  const int index_;
  const Cast& cast_;
  Ledger& ledger_;
  Verdict& verdict_;
  WireChecker& wire_;
  Workload workload_;
  Rng rng_;

  std::uint64_t left_ = 0;  // calls of the workload not yet due
  std::uint64_t due_ = 0;   // due, not yet started
  bool blocked_ = false;
  bool winding_up_ = false;
  bool closed_ = false;
  bool closing_ = false;
  std::uint64_t times_blocked_ = 0;
  std::unordered_map<Ledger::Index, protocol::CallId> open_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Owed> owed_;  // by our own id, so that stale timers find nothing
  std::map<std::uint64_t, protocol::Message> holding_;
};

}  // namespace homa::sim
