#include "simulation/simulation.h"

#include <algorithm>
#include <cmath>

#include "simulation/packet_format.h"
#include "simulation/policy.h"

namespace homa::simulation {
namespace {

constexpr std::uint64_t kLongestMessage = std::uint64_t{1} << 30;
/// Backlog samples while messages are measured, if all goes well.
constexpr int kSamples = 240;
constexpr auto kReportInterval = std::chrono::milliseconds(200);
/// Below so many samples nothing is said of a trend.
constexpr std::size_t kSamplesToJudge = 120;
/// A backlog that grows by more than this part of what is offered will not come back: the run stops.
constexpr double kHopelessGrowth = 0.03;

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

/// The size below which messages carry this part of all bytes.
std::uint64_t byte_quantile(const Workload& workload, double part) {
  const double wanted = workload.mean() * part;
  double bytes = 0;
  for (const Workload::Step& step : workload.steps()) {
    bytes += step.probability * static_cast<double>(step.size);
    if (bytes >= wanted) return step.size;
  }
  return workload.largest();
}

}  // namespace

Simulation::Simulation(const RunSpec& spec, const Topology& topology, const Workload& workload)
    : spec_(spec),
      topology_(topology),
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
  plan();
}

void Simulation::plan() {
  const auto link = static_cast<double>(topology_.host_rate.bytes_per_second());
  double load = spec_.load;
  if (spec_.load_kind == LoadKind::total) load *= application_load_factor(workload_, kNativeUnscheduledBytes);
  bytes_per_second_ = load * link;
  const double messages_per_second = bytes_per_second_ * topology_.hosts() / workload_.mean();
  const Duration measuring = of_s(static_cast<double>(spec_.messages) / messages_per_second);
  // Long messages make the backlog, and it takes several of them to come to rest.
  const double long_message_s = static_cast<double>(byte_quantile(workload_, 0.9)) / link;
  const Duration settling = std::max<Duration>(500us, of_s(long_message_s / std::max(1 - spec_.load, 0.1)));
  warm_up_ = Time(spec_.warm_up_us > 0 ? of_s(spec_.warm_up_us * 1e-6) : settling);
  end_ = warm_up_ + 2 * measuring;
  if (spec_.duration_us > 0) end_ = std::min(end_, Time(of_s(spec_.duration_us * 1e-6)));
  sample_interval_ = std::max<Duration>(measuring / kSamples, 1us);
  traffic_ = std::make_unique<PoissonTraffic>(fabric_->loop(), workload_, topology_.hosts(), bytes_per_second_,
                                              spec_.seed, *this);
}

RunResult Simulation::run(const ProgressCallback& progress) {
  traffic_->start();
  sim::EventLoop& loop = fabric_->loop();
  while (loop.now() < warm_up_ && how_ended_ != RunEnd::stopped) {
    loop.run_until(std::min(loop.now() + sample_interval_, warm_up_));
    if (!report(progress)) how_ended_ = RunEnd::stopped;
  }
  begin_measuring();
  while (!is_over()) {
    loop.run_until([this] { return phase_ == Phase::draining && recorder_.count() >= measured_started_; },
                   std::min(loop.now() + sample_interval_, end_));
    sample_backlog();
    if (!report(progress)) how_ended_ = RunEnd::stopped;
  }
  return result();
}

void Simulation::begin_measuring() {
  phase_ = Phase::measuring;
  fabric_->reset_counts();
}

bool Simulation::is_over() const {
  if (how_ended_ != RunEnd::complete) return true;
  return phase_ == Phase::draining && recorder_.count() >= measured_started_;
}

void Simulation::sample_backlog() {
  if (is_over()) return;
  if (now() >= end_) {
    how_ended_ = RunEnd::duration;
    return;
  }
  trend_.add(ledger_.bytes());
  // Not before the backlog had time to swing: as long again as it took to come to rest.
  if (trend_.count() < kSamplesToJudge || trend_.count() % (kSamplesToJudge / 4) != 0 ||
      now() - warm_up_ < warm_up_ - Time{})
    return;
  const Backlog backlog = trend_.judge(in_s(sample_interval_), bytes_per_second_ * topology_.hosts());
  if (backlog.slope.low > kHopelessGrowth) how_ended_ = RunEnd::diverged;
}

bool Simulation::report(const ProgressCallback& progress) {
  const auto clock = std::chrono::steady_clock::now();
  if (!progress || clock - last_report_ < kReportInterval) return true;
  last_report_ = clock;
  Progress state;
  state.virtual_us = in_us(now() - Time{});
  state.virtual_us_total = in_us(end_ - Time{});
  state.messages_done = recorder_.count();
  state.messages_total = spec_.messages;
  state.events = fabric_->loop().executed();
  return progress(state);
}

// --- messages ----------------------------------------------------------------------------------------------------

void Simulation::start_message(std::uint32_t source, std::uint32_t destination, std::uint64_t length) {
  ++started_;
  if (phase_ != Phase::warming_up) bytes_started_ += length;
  const bool measured = phase_ == Phase::measuring;
  if (measured && ++measured_started_ == spec_.messages) phase_ = Phase::draining;
  ledger_.start({source, destination, length, now(), measured});
  if (spec_.generator == Generator::request_response) {
    hosts_[source].start_call(destination, length, destination);
  } else {
    hosts_[source].start_one_way(destination, length, destination);
  }
}

void Simulation::delivered(const MessageRecord& record, Time when) {
  if (phase_ != Phase::warming_up) bytes_delivered_ += record.length;
  if (!record.measured) return;
  const Distance distance = distance_between(topology_, record.source, record.destination);
  const bool echo = spec_.generator == Generator::request_response;
  recorder_.add(record.length, when - record.started,
                echo ? unloaded_.of_echo(record.length, distance) : unloaded_.of(record.length, distance));
}

void Simulation::one_way_arrived(ProtocolHost& host, std::uint32_t source, std::uint64_t length, Time when) {
  delivered(ledger_.arrived(source, host.number(), length), when);
}

void Simulation::request_arrived(ProtocolHost& host, protocol::RequestId request, std::uint64_t length) {
  host.reply(request, length);
}

void Simulation::finished(ProtocolHost& host, std::uint64_t cookie, protocol::CallStatus status, std::uint64_t length,
                          Time when) {
  if (status != protocol::CallStatus::ok) ++failed_;
  if (spec_.generator != Generator::request_response || status != protocol::CallStatus::ok) return;
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
  result.backlog = trend_.judge(in_s(sample_interval_), bytes_per_second_ * topology_.hosts());
  if (how_ended_ == RunEnd::diverged) result.backlog.verdict = LoadVerdict::diverges;
  report_ports(result, measured_s);
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
