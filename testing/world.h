// Builds a world from its plan, runs it to its end and judges it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "protocol/counters.h"
#include "testing/application.h"
#include "testing/checkers.h"
#include "testing/trace.h"
#include "testing/world_plan.h"

namespace homa::sim {

struct WorldResult {
  std::vector<Violation> violations;
  std::bitset<kKnobs> knobs;
  std::uint64_t trace_hash = 0;
  std::uint64_t events = 0;
  std::uint64_t calls = 0;
  std::uint64_t calls_ok = 0;
  std::uint64_t datagrams = 0;
  std::uint64_t dropped = 0;
  std::uint64_t peak_core_memory = 0;  ///< of one endpoint
  Time ended{};
  bool ok() const { return violations.empty(); }
};

/// A network in the shape of a star, whose hosts and applications come from a plan.
class World final : public EventTarget {
 public:
  explicit World(const WorldPlan& plan, std::FILE* trace = nullptr);
  ~World();
  WorldResult run();

  EventLoop& loop() { return medium_.loop; }
  Verdict& verdict() { return verdict_; }
  Ledger& ledger() { return ledger_; }
  Host& host(std::size_t index) { return *hosts_[index]; }
  Peer& peer(std::size_t index) { return *peers_[index]; }

  void on_event(std::uint8_t kind, std::uint64_t argument) override;

 private:
  class DropCounter;
  void build_hosts();
  void build_faults();
  void happen(const Mishap& mishap);
  void unreachable(const Parcel& parcel);
  bool all_done() const;
  /// Nobody answers there at the end of the run.
  bool gone(std::size_t host) const { return plan_.dead[host] || peers_[host]->closed(); }
  Duration transfer_time() const;
  bool run_bounded(Time limit, bool (World::*done)() const);
  void run_workload();
  void run_probes();
  void run_dry();
  void check_answers_prompt();
  void check_duplicates_seen();
  void check_incoming();
  void check_drained();
  WorldResult result();
  bool probes_done() const;
  bool quiet() const { return medium_.loop.pending() == 0; }

  const WorldPlan plan_;
  Medium medium_;
  Verdict verdict_;
  Ledger ledger_;
  WireChecker wire_;
  TraceHash hash_;
  DuplicateCounter duplicates_;
  Switch switch_;
  FaultInjector faults_;
  std::unique_ptr<DropCounter> drops_;
  std::unique_ptr<TraceWriter> trace_;
  std::vector<std::unique_ptr<NamedTrace>> names_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Port*> ports_;
  std::vector<std::unique_ptr<Peer>> peers_;
  Cast cast_;
  std::unique_ptr<HostileTraffic> hostile_;
  std::vector<std::pair<std::uint32_t, Address>> hints_;  // ICMP under way: host, unreachable peer
  std::vector<Ledger::Index> probes_;
};

}  // namespace homa::sim
