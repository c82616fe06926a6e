#include "testing/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace homa::sim {
namespace {
constexpr std::uint64_t kMostEvents = 5'000'000;
constexpr Duration kSampleEvery = 100us;
enum Kind : std::uint8_t { kMishap, kMemoryBack, kHint, kSample };
}  // namespace

class World::DropCounter final : public PacketObserver {
 public:
  void sent(const Parcel&) override { ++sent_; }
  void delivered(const Parcel&) override {}
  void dropped(const Parcel&, DropReason reason) override {
    ++dropped_;
    ++by_reason_[static_cast<std::size_t>(reason)];
  }
  std::uint64_t sent_ = 0;
  std::uint64_t dropped_ = 0;
  std::array<std::uint64_t, 16> by_reason_{};
};

World::World(const WorldPlan& plan, std::FILE* trace)
    : plan_(plan),
      verdict_(medium_.loop),
      ledger_(verdict_, plan.seed),
      wire_(medium_.loop, verdict_),
      hash_(medium_.loop),
      switch_(medium_),
      faults_(medium_, switch_, mix64(plan.seed ^ 0xfa017)),
      drops_(std::make_unique<DropCounter>()) {
  medium_.observers = {&wire_, &hash_, drops_.get()};
  if (plan_.has(Knob::duplicate) || plan_.has(Knob::late_duplicate)) medium_.observers.push_back(&duplicates_);
  if (trace != nullptr) {
    trace_ = std::make_unique<TraceWriter>(medium_.loop, trace);
    medium_.observers.push_back(trace_.get());
  }
  build_hosts();
  build_faults();
}

World::~World() = default;

void World::build_hosts() {
  for (std::size_t i = 0; i < plan_.hosts.size(); ++i) {
    const HostSettings& settings = plan_.hosts[i];
    hosts_.push_back(std::make_unique<Host>(medium_, verdict_, settings, faults_));
    Host& host = *hosts_.back();
    ports_.push_back(&switch_.add_port(plan_.downlinks[i], host));
    switch_.set_route(settings.address.host, *ports_.back());
    wire_.participant(settings.address);
    if (plan_.icmp) host.on_unreachable = [this](const Parcel& parcel) { unreachable(parcel); };
    if (trace_) {
      names_.push_back(std::make_unique<NamedTrace>(*trace_, settings.name));
      host.set_trace(names_.back().get());
    }
    cast_.hosts.push_back(&host);
  }
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    peers_.push_back(std::make_unique<Peer>(static_cast<int>(i), cast_, ledger_, verdict_, wire_, plan_.workloads[i],
                                            mix64(plan_.seed + i)));
    hosts_[i]->set_application(peers_.back().get());
    cast_.peers.push_back(peers_.back().get());
    if (!plan_.has(Knob::native)) continue;
    for (const HostSettings& other : plan_.hosts)
      wire_.initiated(hosts_[i]->address(), other.address);  // no proofs there
  }
}

void World::build_faults() {
  for (const FaultRule& rule : plan_.rules) faults_.add(rule);
  for (std::size_t i = 0; i < plan_.mishaps.size(); ++i) medium_.loop.at(plan_.mishaps[i].when, *this, kMishap, i);
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    if (plan_.dead[i]) hosts_[i]->crash();
  }
  if (plan_.hostile.targets.empty()) return;
  hostile_ = std::make_unique<HostileTraffic>(medium_, switch_, plan_.hostile, mix64(plan_.seed ^ 0xbad));
  hostile_->start();
}

void World::happen(const Mishap& mishap) {
  const auto index = static_cast<std::size_t>(mishap.host);
  Host& host = *hosts_[index];
  if (trace_) trace_->note(host.settings().name, fmt::format("*** mishap {}", static_cast<int>(mishap.kind)));
  if (plan_.dead[index]) return;
  switch (mishap.kind) {
    case Mishap::Kind::pause:
      return host.pause(mishap.until);
    case Mishap::Kind::stop_reading:
      return host.stop_reading(mishap.until);
    case Mishap::Kind::no_memory:
      host.buffers().refuse(true);
      return medium_.loop.at(mishap.until, *this, kMemoryBack, index);
    case Mishap::Kind::crash:
      return host.crash();
    case Mishap::Kind::boot:
      if (!host.running()) host.boot();  // two mishaps may have killed one process
      return;
    case Mishap::Kind::close:
      return peers_[index]->close();
    case Mishap::Kind::interface_limit:
      return host.set_interface_limit(mishap.limit);
    case Mishap::Kind::change_address:
      switch_.remove_route(host.address().host);
      wire_.moved(host.address(), mishap.address);
      host.change_address(mishap.address);
      return switch_.set_route(mishap.address.host, *ports_[index]);
  }
}

void World::unreachable(const Parcel& parcel) {
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i]->address() != parcel.from) continue;
    hints_.emplace_back(static_cast<std::uint32_t>(i), parcel.to);
    return medium_.loop.after(plan_.base_rtt / 2, *this, kHint, hints_.size() - 1);
  }
}

void World::on_event(std::uint8_t kind, std::uint64_t argument) {
  if (kind == kSample) return check_incoming();
  if (kind == kMishap) return happen(plan_.mishaps[argument]);
  if (kind == kMemoryBack) return hosts_[argument]->buffers().refuse(false);
  const auto& [host, peer] = hints_[argument];
  if (!hosts_[host]->running() || medium_.loop.now() < hosts_[host]->paused_until()) return;
  hosts_[host]->endpoint().network_error(peer, protocol::TransmitFailure::unreachable, medium_.loop.now());
  hosts_[host]->kick();
}

bool World::all_done() const {
  if (ledger_.open_calls() != 0 || medium_.loop.now() < plan_.faults_end) return false;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (!plan_.dead[i] && (!peers_[i]->finished_starting() || peers_[i]->closing())) return false;
  }
  return true;
}

bool World::probes_done() const {
  return std::all_of(probes_.begin(), probes_.end(), [this](Ledger::Index index) {
    const CallRecord& record = ledger_.records()[index];
    return record.ends != 0 || record.withdrawn;
  });
}

// That the workload needs on the slowest link, and with the smallest window one after the other on the longest path.
Duration World::transfer_time() const {
  std::uint64_t window = ~std::uint64_t{0};
  for (const HostSettings& host : plan_.hosts) window = std::min(window, host.config.max_incoming);
  const auto rounds = static_cast<Duration::rep>(plan_.byte_budget / window);
  return plan_.slowest.time_for(2 * plan_.byte_budget) + rounds * (plan_.base_rtt + 20us);
}

bool World::run_bounded(Time limit, bool (World::*done)() const) {
  return medium_.loop.run_until(
      [&] { return (this->*done)() || !verdict_.ok() || medium_.loop.executed() > kMostEvents; }, limit);
}

void World::run_workload() {
  for (const auto& peer : peers_) peer->start();
  if (!plan_.circumstances.disrupted) medium_.loop.after(kSampleEvery, *this, kSample);
  // Closed loops whose calls fail slowly would go on for long: they stop, then all that was begun must end.
  const Time enough = plan_.faults_end + 2 * plan_.peer_timeout + 4 * transfer_time() + 200 * plan_.base_rtt;
  if (!run_bounded(enough, &World::all_done)) {
    for (const auto& peer : peers_) peer->stop_starting();
    run_bounded(enough + 4 * plan_.peer_timeout + 4 * transfer_time() + 1s, &World::all_done);
  }
  if (!verdict_.ok()) return;
  if (medium_.loop.executed() > kMostEvents) return verdict_.fail("event_storm", "too many events: something spins");
  ledger_.judge(plan_.circumstances, medium_.loop.now());
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (plan_.dead[i] || peers_[i]->finished_starting()) continue;
    verdict_.fail("writable", fmt::format("host {}: calls still blocked at the end", i));
  }
  if (!plan_.circumstances.disrupted) check_answers_prompt();
}

void World::check_answers_prompt() {
  const Duration most = 4 * transfer_time() + 100 * plan_.base_rtt + (plan_.clean() ? Duration(100ms) : Duration(1s)) +
                        plan_.circumstances.timer_slack;
  for (const CallRecord& record : ledger_.records()) {
    if (record.ends == 0 || record.replied == kNever || record.status != protocol::CallStatus::ok) continue;
    const Time from = std::max(record.replied, plan_.clean() ? Time{} : plan_.faults_end);
    if (record.ended <= from + most) continue;
    verdict_.fail("slow",
                  fmt::format("an answer of {} bytes from host {} to {}, given {}, arrived {}", record.response_length,
                              record.server, record.client, to_string(record.replied), to_string(record.ended)));
  }
}

// When all faults are over, everybody who called before can call again; the first call may still learn of a restart.
void World::run_probes() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (gone(i)) continue;
    for (std::size_t target = 0; target < hosts_.size(); ++target) {
      const auto& targets = plan_.workloads[i].targets;
      if (gone(target) || std::count(targets.begin(), targets.end(), static_cast<int>(target)) == 0) continue;
      bool healed = false;
      for (int attempt = 0; attempt < 3 && !healed && verdict_.ok(); ++attempt) {
        probes_ = {peers_[i]->probe(static_cast<int>(target))};
        run_bounded(medium_.loop.now() + 2 * plan_.peer_timeout + 1s, &World::probes_done);
        const CallRecord& record = ledger_.records()[probes_[0]];
        healed = record.ends != 0 && record.status == protocol::CallStatus::ok;
      }
      if (!healed && verdict_.ok()) {
        verdict_.fail("recovery", fmt::format("host {} cannot call host {} after all faults have ended: {}", i, target,
                                              protocol::to_string(ledger_.records()[probes_[0]].status)));
      }
    }
  }
}

void World::run_dry() {
  for (const auto& peer : peers_) peer->wind_up();
  // A copy may come tens of seconds late, and a server keeps a silent client's slots for T after the last word of it.
  run_bounded(medium_.loop.now() + 100s + 4 * plan_.peer_timeout, &World::quiet);
  if (!verdict_.ok()) return;
  if (medium_.loop.executed() > kMostEvents) return verdict_.fail("event_storm", "too many events: something spins");
  check_drained();
  check_duplicates_seen();
}

// What nobody sends is not expected either.
void World::check_incoming() {
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    if (!hosts_[i]->running() || !ledger_.nothing_inbound(static_cast<int>(i))) continue;
    const std::uint64_t incoming = hosts_[i]->endpoint().usage().incoming;
    if (incoming == 0) continue;
    verdict_.fail("incoming",
                  fmt::format("{} expects {} bytes, and nobody sends any", hosts_[i]->settings().name, incoming));
  }
  if (medium_.loop.now() < plan_.faults_end) medium_.loop.after(kSampleEvery, *this, kSample);
}

// A copy of a frame is either recognised by its number or meets an association that is gone.
void World::check_duplicates_seen() {
  if (plan_.has(Knob::open_failure)) return;  // a first arrival may not have counted
  for (const auto& host : hosts_) {
    if (!host->running() || host->lives() > 1) continue;  // what a dead process had counted is gone
    const protocol::Counters& counters = host->endpoint().counters();
    // What could not be taken is not acknowledged, and its number stays open.
    const std::uint64_t seen = counters.datagrams_duplicate + counters.datagrams_unknown +
                               counters.datagrams_wrong_address + counters.data_held;
    const std::uint64_t expected = duplicates_.arrived_again(host->address());
    if (seen >= expected) continue;
    verdict_.fail("duplicates", fmt::format("{}: {} frames arrived again, {} were recognised", host->settings().name,
                                            expected, seen));
  }
}

void World::check_drained() {
  for (const auto& host : hosts_) {
    if (!host->running()) continue;
    const protocol::Endpoint::Usage usage = host->endpoint().usage();
    const auto zero = [&](const char* what, std::uint64_t value) {
      if (value != 0) verdict_.fail("drained", fmt::format("{}: {} {} left", host->settings().name, value, what));
    };
    zero("calls", usage.calls);
    zero("requests", usage.requests);
    zero("bytes of receive memory", usage.receive_memory);
    zero("bytes incoming", usage.incoming);
    zero("bytes of send memory", usage.send_memory);
    zero("buffers", host->buffers().blocks());
    zero("payloads never released", host->payloads().live());
    if (host->endpoint().next_deadline() != kNever) {
      verdict_.fail("idle_deadline",
                    fmt::format("{}: idle at {}, yet wants to wake at {}", host->settings().name,
                                to_string(medium_.loop.now()), to_string(host->endpoint().next_deadline())));
    }
  }
}

WorldResult World::run() {
  run_workload();
  if (verdict_.ok()) run_probes();
  if (verdict_.ok()) run_dry();
  if (verdict_.ok()) ledger_.judge(plan_.circumstances, medium_.loop.now());
  return result();
}

WorldResult World::result() {
  WorldResult result;
  result.violations = verdict_.violations();
  result.knobs = plan_.knobs;
  result.trace_hash = hash_.value();
  result.events = medium_.loop.executed();
  result.calls = ledger_.records().size();
  for (const CallRecord& record : ledger_.records()) {
    if (record.ends != 0 && record.status == protocol::CallStatus::ok) ++result.calls_ok;
  }
  result.datagrams = drops_->sent_;
  result.dropped = drops_->dropped_;
  for (const auto& host : hosts_) result.peak_core_memory = std::max(result.peak_core_memory, host->peak_core_memory());
  result.ended = medium_.loop.now();
  return result;
}

}  // namespace homa::sim
