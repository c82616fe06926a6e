#include "simulation/simulation.h"

#include <algorithm>
#include <cmath>

#include "simulation/closed_traffic.h"
#include "simulation/packet_format.h"
#include "simulation/poisson_traffic.h"
#include "simulation/policy.h"

namespace homa::simulation {
namespace {

constexpr std::uint64_t kLongestMessage = std::uint64_t{1} << 30;
/// Backlog samples while messages are measured, if all goes well.
constexpr int kSamples = 240;
constexpr auto kReportInterval = std::chrono::milliseconds(200);
/// The trend is looked at every so many samples.
constexpr std::size_t kSamplesPerLook = 40;
/// Of the last messages: time to repair what was lost of them, several times over.
constexpr Duration kPatience = 50ms;
/// ... and for the largest of them to be sent behind all others.
constexpr int kLongestSlowdown = 30;
/// A backlog that grows by more than this part of what is offered will not come back: the run stops.
constexpr double kHopelessGrowth = 0.03;
/// Warm-up, in times that a backlog needs to forget what it was.
constexpr int kWarmUpRelaxations = 3;

std::vector<Address> addresses_of(std::uint32_t hosts) {
  std::vector<Address> addresses;
  for (std::uint32_t host = 0; host < hosts; ++host) addresses.push_back(address_of_host(host));
  return addresses;
}

double in_us(Duration duration) {
  return static_cast<double>(duration.count()) / 1000;
}
double in_s(Duration duration) {
  return static_cast<double>(duration.count()) / 1e9;
}
Duration of_s(double seconds) {
  return Duration(static_cast<Duration::rep>(seconds * 1e9));
}
double gbps(double bytes_per_second) {
  return bytes_per_second * 8e-9;
}

/// E[S^2] / E[S]: of the message that a byte belongs to, the mean size.
double size_of_bytes(const Workload& workload) {
  return workload.mean_of([](std::uint64_t size) { return static_cast<double>(size) * static_cast<double>(size); }) /
         workload.mean();
}

/// How long a backlog takes to come to rest: of the order of the busy time that a byte meets in front of it, over the
/// square of the room that is left (as in the M/G/1 queue).
double relaxation_s(const Workload& workload, double link_bytes_per_second, double load) {
  constexpr double kLeastRoom = 0.15;  // close to saturation no warm-up would do
  const double room = std::max(1 - load, kLeastRoom);
  return size_of_bytes(workload) / link_bytes_per_second / (room * room);
}

/// homa18 hands its card one packet at a time, so that its order is Homa's. The product must hand over more, and cards
/// have one queue.
Topology with_nic(Topology topology, const RunSpec& spec) {
  topology.nic_has_one_queue = spec.policy == "libhoma";
  return topology;
}

}  // namespace

Simulation::Simulation(const RunSpec& spec, const Topology& topology, const Workload& workload)
    : spec_(spec),
      topology_(with_nic(topology, spec)),
      workload_(workload),
      space_(kLongestMessage),
      unloaded_(topology, endpoint_config(spec, topology, workload)),
      recorder_(workload_, spec.buckets) {
  setting_.config = endpoint_config(spec, topology, workload);
  setting_.native = spec.carrier == RunCarrier::native;
  setting_.loss_rate = spec.loss_rate;
  setting_.ecn_capable = topology.ecn_threshold_bytes != 0;
  setting_.space = &space_;
  setting_.listener = this;
  setting_.addresses = addresses_of(topology.hosts());
  std::vector<sim::EventTarget*> targets;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    targets.push_back(&hosts_.emplace_back(host, mix64(spec.seed * 0x10001 + host), setting_));
  }
  fabric_ = std::make_unique<Fabric>(topology_, targets, mix64(spec.seed + 0xfab));
  for (ProtocolHost& host : hosts_) host.attach(*fabric_);
  if (spec.policy == "oracle") {
    oracle_ =
        std::make_unique<Oracle>(fabric_->loop(), topology_, unloaded_,
                                 [this](std::uint32_t source, std::uint32_t destination, std::uint64_t length,
                                        Time when) { delivered(ledger_.arrived(source, destination, length), when); });
  }
  plan();
  make_traffic();
}

void Simulation::plan() {
  const auto link = static_cast<double>(topology_.host_rate.bytes_per_second());
  double load = spec_.load;
  if (spec_.load_kind == LoadKind::total) load *= application_load_factor(workload_, kNativeUnscheduledBytes);
  // Each call loads a link twice: its request one way, or its response the other.
  bytes_per_second_ = load * link / (spec_.generator == Generator::request_response ? 2 : 1);
  double sources = topology_.hosts();
  double message_bytes = workload_.mean();
  if (spec_.generator == Generator::victim) sources = 1;
  if (spec_.generator == Generator::incast) {
    // One link carries all, and a round must have passed before anything is measured.
    sources = 1;
    bytes_per_second_ = link;
    message_bytes = static_cast<double>(spec_.incast_response_bytes);
    relaxation_ = of_s(message_bytes * spec_.incast_width / link) + 1ms;
  } else {
    relaxation_ = std::max<Duration>(200us, of_s(relaxation_s(workload_, link, spec_.load)));
  }
  const Duration measuring = of_s(static_cast<double>(spec_.messages) * message_bytes / (bytes_per_second_ * sources));
  warm_up_ = Time(spec_.warm_up_us > 0 ? of_s(spec_.warm_up_us * 1e-6) : kWarmUpRelaxations * relaxation_);
  // While the first few of the largest messages are under way the backlog can only grow.
  constexpr int kLargest = 4;
  const Duration largest_time = of_s(static_cast<double>(workload_.largest()) / link);
  memory_ = std::max(relaxation_, kLargest * largest_time);
  watched_until_ = warm_up_ + spec_.watched_relaxations * memory_;
  end_ = warm_up_ + measuring + std::max({measuring, relaxation_, kPatience + kLongestSlowdown * largest_time});
  end_ = std::max(end_, watched_until_);
  if (spec_.duration_us > 0) end_ = std::min(end_, Time(of_s(spec_.duration_us * 1e-6)));
  sample_interval_ = std::max<Duration>(std::max(measuring, watched_until_ - warm_up_) / kSamples, 1us);
}

void Simulation::make_traffic() {
  sim::EventLoop& loop = fabric_->loop();
  const std::uint32_t hosts = topology_.hosts();
  PoissonTraffic::Settings poisson{hosts, hosts, bytes_per_second_, spec_.generator == Generator::request_response,
                                   spec_.seed};
  switch (spec_.generator) {
    case Generator::poisson_one_way:
    case Generator::request_response:
      traffic_.push_back(std::make_unique<PoissonTraffic>(loop, workload_, poisson, *this));
      break;
    case Generator::incast:
      flows_.push_back({"incast", ~0u, 0});
      traffic_.push_back(
          std::make_unique<IncastTraffic>(hosts, spec_.incast_width, spec_.incast_response_bytes, *this));
      break;
    case Generator::victim: {
      const VictimHosts victim{0, 1, topology_.hosts_per_leaf, topology_.hosts_per_leaf + 1};
      flows_ = {{"A to C", victim.a, victim.c}, {"B to C", victim.b, victim.c}, {"A to D", victim.a, victim.d}};
      traffic_.push_back(std::make_unique<SaturatingTraffic>(victim, *this));
      poisson.sources = 1;
      auto short_messages = std::make_unique<PoissonTraffic>(loop, workload_, poisson, *this);
      short_messages->send_only_to(victim.d);
      traffic_.push_back(std::move(short_messages));
      break;
    }
  }
}

RunResult Simulation::run(const ProgressCallback& progress) {
  for (const auto& traffic : traffic_) traffic->start();
  advance_to(std::min(warm_up_, end_), progress);
  phase_ = Phase::measuring;
  fabric_->reset_counts();
  advance_to(end_, progress);
  if (!over_ && !all_delivered()) how_ended_ = RunEnd::duration;
  return result();
}

void Simulation::advance_to(Time end, const ProgressCallback& progress) {
  while (!over_ && now() < end && !is_done()) {
    fabric_->loop().run_until([this] { return is_done(); }, std::min(now() + sample_interval_, end));
    if (!is_done()) sample_backlog();
    report(progress);
  }
}

void Simulation::sample_backlog() {
  if (phase_ == Phase::warming_up) {
    if (now() - Time{} >= (warm_up_ - Time{}) * 2 / 3) trend_.add_before(ledger_.bytes());
    return;
  }
  trend_.add(ledger_.bytes());
  if (trend_.count() % kSamplesPerLook != 0 || over_) return;
  const Backlog backlog = judge_backlog();
  if (backlog.verdict != LoadVerdict::diverges || backlog.slope.low < kHopelessGrowth) return;
  how_ended_ = RunEnd::diverged;
  over_ = true;
}

Backlog Simulation::judge_backlog() const {
  // Closed generators cannot overload anything.
  const bool closed = spec_.generator == Generator::incast || spec_.generator == Generator::victim;
  const double offered = closed ? 0 : bytes_per_second_ * topology_.hosts();
  return trend_.judge({in_s(sample_interval_), offered, in_s(memory_), size_of_bytes(workload_)});
}

void Simulation::report(const ProgressCallback& progress) {
  const auto clock = std::chrono::steady_clock::now();
  if (!progress || over_ || clock - last_report_ < kReportInterval) return;
  last_report_ = clock;
  Progress state;
  state.virtual_us = in_us(now() - Time{});
  state.virtual_us_total = in_us(end_ - Time{});
  state.messages_done = recorder_.count();
  state.messages_total = spec_.messages;
  state.events = fabric_->loop().executed();
  if (progress(state)) return;
  how_ended_ = RunEnd::stopped;
  over_ = true;
}

// --- messages ----------------------------------------------------------------------------------------------------

void Simulation::start_message(const Start& start) {
  ++started_;
  if (phase_ != Phase::warming_up) {
    bytes_started_ += start.length;
    for (Flow& flow : flows_) {
      if (flow.has(start.source, start.destination)) flow.started += start.length;
    }
  }
  const bool measured = phase_ == Phase::measuring && start.counts;
  if (measured && ++measured_started_ == spec_.messages) phase_ = Phase::draining;
  ledger_.start({start.source, start.destination, start.length, start.request, now(), measured});
  if (oracle_) return oracle_->start(start.source, start.destination, start.length);
  ProtocolHost& host = hosts_[start.source];
  if (start.request != 0) {
    host.start_call(start.destination, start.request, start.destination);
  } else {
    host.start_one_way(start.destination, start.length, start.destination);
  }
}

Duration Simulation::unloaded(const MessageRecord& record) {
  const Distance distance = distance_between(topology_, record.source, record.destination);
  if (record.request == 0) return unloaded_.of(record.length, distance);
  return unloaded_.of_call(record.request, record.length, distance);
}

void Simulation::delivered(const MessageRecord& record, Time when) {
  if (phase_ != Phase::warming_up) {
    bytes_delivered_ += record.length;
    for (Flow& flow : flows_) {
      if (flow.has(record.source, record.destination)) flow.delivered += record.length;
    }
  }
  if (record.measured) recorder_.add(record.length, when - record.started, unloaded(record));
  for (const auto& traffic : traffic_) traffic->delivered(record);
}

void Simulation::one_way_arrived(ProtocolHost& host, std::uint32_t source, std::uint64_t length, Time when) {
  delivered(ledger_.arrived(source, host.number(), length), when);
}

void Simulation::request_arrived(ProtocolHost& host, protocol::RequestId request, std::uint64_t length) {
  host.reply(request, spec_.generator == Generator::incast ? spec_.incast_response_bytes : length);
}

void Simulation::finished(ProtocolHost& host, std::uint64_t cookie, protocol::CallStatus status, std::uint64_t length,
                          Time when) {
  if (status != protocol::CallStatus::ok) ++failed_;
  const bool calls = spec_.generator == Generator::request_response || spec_.generator == Generator::incast;
  if (!calls || status != protocol::CallStatus::ok) return;
  delivered(ledger_.arrived(host.number(), static_cast<std::uint32_t>(cookie), length), when);
}

// --- result ------------------------------------------------------------------------------------------------------

RunResult Simulation::result() {
  RunResult result;
  result.spec = spec_;
  result.end = how_ended_;
  result.hosts = topology_.hosts();
  result.simulated_us = in_us(now() - Time{});
  result.warm_up_us = in_us(warm_up_ - Time{});
  result.messages_started = started_;
  result.messages_measured = recorder_.count();
  result.messages_unfinished = measured_started_ - std::min(measured_started_, recorder_.count());
  result.messages_failed = failed_;
  recorder_.report(result);
  const double measured_s = std::max(in_s(now() - warm_up_), 1e-9);
  result.rates.offered_gbps = gbps(static_cast<double>(bytes_started_) / measured_s / topology_.hosts());
  result.rates.goodput_gbps = gbps(static_cast<double>(bytes_delivered_) / measured_s / topology_.hosts());
  result.backlog = judge_backlog();
  report_ports(result, measured_s);
  for (const Flow& flow : flows_) {
    result.flows.push_back({flow.name, gbps(static_cast<double>(flow.delivered) / measured_s),
                            gbps(static_cast<double>(flow.started) / measured_s)});
  }
  result.traffic = setting_.traffic;
  result.drops.random_losses = setting_.random_losses;
  result.events = fabric_->loop().executed();
  return result;
}

void Simulation::report_ports(RunResult& result, double measured_s) const {
  for (int k = 0; k < static_cast<int>(PortKind::count_); ++k) {
    const auto kind = static_cast<PortKind>(k);
    const std::vector<Port*>& ports = fabric_->ports(kind);
    if (ports.empty()) continue;
    PortStatistics statistics;
    statistics.kind = to_string(kind);
    statistics.ports = static_cast<std::uint32_t>(ports.size());
    double sent = 0;
    double waiting = 0;
    for (const Port* port : ports) {
      const PortCounts counts = port->counts();
      sent += static_cast<double>(counts.bytes_sent);
      waiting += counts.waiting_byte_ns;
      statistics.max_bytes = std::max(statistics.max_bytes, static_cast<double>(counts.max_waiting_bytes));
      statistics.marked += counts.marked;
      result.drops.full_buffers += counts.dropped;
    }
    const double port_seconds = measured_s * static_cast<double>(ports.size());
    statistics.mean_bytes = waiting * 1e-9 / port_seconds;
    statistics.utilisation = sent / port_seconds / static_cast<double>(ports[0]->rate().bytes_per_second());
    if (kind == PortKind::host_down) {
      result.rates.carried_gbps = gbps(sent / port_seconds);
      result.rates.link_utilisation = statistics.utilisation;
    }
    result.ports.push_back(statistics);
  }
}

}  // namespace homa::simulation
