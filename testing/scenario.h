// A small hand-made world for scenario tests: a few equal hosts on one switch, calls made one by one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "testing/application.h"
#include "testing/checkers.h"
#include "testing/faults.h"
#include "testing/host.h"
#include "testing/ledger.h"
#include "testing/trace.h"

namespace homa::sim {

struct ScenarioSettings {
  std::size_t hosts = 2;
  LinkSettings link;        ///< 10 Gbit/s, 1 us
  PortSettings port;        ///< its link is replaced by `link`
  protocol::Config config;  ///< of all hosts; peer_timeout 1 s unless changed
  std::uint64_t seed = 1;
  std::function<void(std::size_t host, HostSettings&)> adjust;  ///< last word on each host
  ScenarioSettings() {
    config.peer_timeout = 1s;
    config.ping_interval = 100ms;
  }
};

class Scenario {
 public:
  explicit Scenario(const ScenarioSettings& settings = ScenarioSettings());
  ~Scenario();

  Host& host(std::size_t i) { return *hosts_[i]; }
  Peer& peer(std::size_t i) { return *peers_[i]; }
  protocol::Endpoint& endpoint(std::size_t i) { return hosts_[i]->endpoint(); }
  const protocol::Counters& counters(std::size_t i) { return hosts_[i]->endpoint().counters(); }
  FaultInjector& faults() { return faults_; }
  Ledger& ledger() { return ledger_; }
  Medium& medium() { return medium_; }
  Switch& network() { return switch_; }
  Port& downlink(std::size_t i) { return *ports_[i]; }
  WireChecker& wire() { return wire_; }
  Verdict& verdict() { return verdict_; }
  /// What checkers accept besides success; set by tests that break things.
  Circumstances circumstances;
  Time now() const { return medium_.loop.now(); }

  // --- calls; the returned index stays valid, see record() -----------------------------------------------------
  Ledger::Index rpc(std::size_t from, std::size_t to, std::uint64_t request, std::uint64_t response);
  Ledger::Index one_way(std::size_t from, std::size_t to, std::uint64_t length);
  Ledger::Index call(std::size_t from, CallRecord wish);
  const CallRecord& record(Ledger::Index index) const { return ledger_.records()[index]; }
  bool ended(Ledger::Index index) const { return record(index).ends != 0; }
  bool ended_ok(Ledger::Index index) const { return ended(index) && record(index).status == protocol::CallStatus::ok; }
  /// The same bytes arrive at `to`, as if the network had kept a copy.
  void inject(const std::vector<std::byte>& bytes, const Address& from, const Address& to, bool hostile = true);

  // --- time ----------------------------------------------------------------------------------------------------
  bool run_until(const std::function<bool()>& done, Duration most);
  void run_for(Duration span) { medium_.loop.run_until(now() + span); }
  /// Until every call has ended; false when that takes longer than `most`.
  bool run_calls(Duration most);
  /// Until nothing at all is pending; false when something still ticks after `most`.
  bool run_dry(Duration most);
  /// Prints every packet from now on.
  void trace(std::FILE* out = stderr);

  /// Drains the world, judges everything and returns the failures as text; empty when all is well.
  std::string judge(Duration most = 60s);
  /// The failures so far as text.
  std::string failures() const;

 private:
  Medium medium_;
  Verdict verdict_;
  Ledger ledger_;
  WireChecker wire_;
  Switch switch_;
  FaultInjector faults_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Port*> ports_;
  std::vector<std::unique_ptr<Peer>> peers_;
  Cast cast_;
  std::unique_ptr<TraceWriter> trace_;
  std::vector<std::unique_ptr<NamedTrace>> names_;
};

/// Keeps copies of the datagrams that a predicate chooses.
class Recorder final : public PacketObserver {
 public:
  explicit Recorder(std::function<bool(const Parcel&)> wanted) : wanted_(std::move(wanted)) {}
  void sent(const Parcel& parcel) override {
    if (wanted_(parcel))
      kept_.push_back({parcel.from, parcel.to, parcel.priority, parcel.sent, parcel.kinds, parcel.bytes});
  }
  void delivered(const Parcel&) override {}
  void dropped(const Parcel&, DropReason) override {}
  struct Kept {
    Address from;
    Address to;
    Priority priority;
    Time sent;
    std::uint32_t kinds;
    std::vector<std::byte> bytes;
  };
  const std::vector<Kept>& kept() const { return kept_; }

 private:
  std::function<bool(const Parcel&)> wanted_;
  std::vector<Kept> kept_;
};

}  // namespace homa::sim
