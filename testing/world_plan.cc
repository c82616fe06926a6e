#include "testing/world_plan.h"

#include <algorithm>
#include <array>

#include "testing/addresses.h"

namespace homa::sim {
namespace {

/// Each knob alone; with one world in twelve left undisturbed and one in eight native, each is active in more than a
/// tenth of the worlds.
constexpr double kKnobChance = 0.15;
constexpr double kCleanWorld = 1.0 / 12;
constexpr double kNativeWorld = 0.125;
/// The native core recovers from no loss, so its worlds have only knobs that lose nothing.
constexpr Knob kNativeKnobs[] = {Knob::reorder, Knob::delay_spike, Knob::pause, Knob::stop_reading, Knob::ipv6};

bool may_be_drawn(Knob knob, bool native) {
  if (knob == Knob::native) return false;  // a kind of world, not a fault
  return !native || std::count(std::begin(kNativeKnobs), std::end(kNativeKnobs), knob) != 0;
}

class Drawer {
 public:
  Drawer(std::uint64_t seed, std::uint32_t defects) : rng_(seed), defects_(defects) { plan_.seed = seed; }
  WorldPlan draw();

 private:
  template <typename T, std::size_t N>
  T one_of(const T (&values)[N]) {
    return values[rng_.below(N)];
  }
  Duration up_to(Duration most) {
    return Duration(static_cast<Duration::rep>(rng_.unit() * static_cast<double>(most.count())));
  }
  Duration between(Duration least, Duration most) { return least + up_to(most - least); }
  std::size_t any_host() { return rng_.below(plan_.hosts.size()); }
  bool has(Knob knob) const { return plan_.has(knob); }
  Time fault_time() { return Time{} + up_to(fault_span_); }

  void draw_knobs();
  void draw_times();
  void draw_hosts();
  void draw_config(protocol::Config& config, const LinkSettings& link);
  void draw_limits(protocol::Config& config);
  void make_native(HostSettings& host, PortSettings& port) const;
  void draw_workloads();
  void draw_workload(std::size_t client, Workload& workload);
  static void make_native(Workload& workload);
  std::vector<std::uint64_t> sizes(const protocol::Config& config);
  void draw_rules();
  void draw_loss();
  void draw_copies();
  void draw_paths();
  void draw_partition(bool both_ways);
  void draw_mishaps();
  void draw_restart();
  void draw_close();
  void draw_hostile();
  void end_at(Time time) { plan_.faults_end = std::max(plan_.faults_end, time); }
  void disturb_for(Duration span) {
    if (span > plan_.peer_timeout / 4) plan_.circumstances.disrupted = true;
  }

  WorldPlan plan_;
  Rng rng_;
  std::uint32_t defects_;
  AddressFamily family_ = AddressFamily::v4;
  Duration fault_span_{};
  Duration delay_scale_{};
  std::uint64_t max_message_ = 0;
  Duration ping_{};
  Duration idle_{};
};

void Drawer::draw_knobs() {
  const bool clean = rng_.chance(kCleanWorld);
  const bool native = rng_.chance(kNativeWorld);
  for (std::size_t knob = 0; knob < kKnobs; ++knob) {
    const bool drawn = rng_.chance(kKnobChance) && !clean;
    plan_.knobs[knob] = drawn && may_be_drawn(static_cast<Knob>(knob), native);
  }
  plan_.knobs[static_cast<std::size_t>(Knob::native)] = native;
  if (has(Knob::ipv6)) family_ = rng_.chance(0.5) ? AddressFamily::v6 : AddressFamily::v6_link_local;
}

void Drawer::draw_times() {
  const Duration delays[] = {1us, 2us, 5us, 20us, 100us, 1ms, 10ms};
  delay_scale_ = one_of(delays);
  const Duration timeouts[] = {1s, 2s, 5s};
  plan_.peer_timeout = one_of(timeouts);
  ping_ = plan_.peer_timeout / static_cast<int>(5 + rng_.below(6));
  const Duration idles[] = {plan_.peer_timeout + 500ms, 10s, 30s};
  idle_ = one_of(idles);
  fault_span_ = between(5ms, 60ms) + 20 * delay_scale_;
  max_message_ = one_of({std::uint64_t{1} << 20, std::uint64_t{3} << 20, std::uint64_t{8} << 20});
  end_at(Time{} + fault_span_);
}

void Drawer::draw_config(protocol::Config& config, const LinkSettings& link) {
  config.max_message_length = max_message_;
  config.receive_memory = max_message_ * (1 + rng_.below(4)) + (1u << 20);
  config.send_memory = max_message_ * (2 + rng_.below(20));
  config.unscheduled_bytes = one_of({2000u, 10'000u, 20'000u, 65'536u, 65'536u});
  config.slots = one_of<std::uint16_t>({8, 64, 1024, 1024});
  config.overcommitment = one_of<std::uint8_t>({1, 2, 4, 8, 8});
  config.max_incoming = one_of<std::uint64_t>({100'000, 400'000, 1024 * 1024});
  config.priority_levels = one_of<std::uint8_t>({1, 2, 4, 8, 8, 8});
  config.oldest_share = rng_.chance(0.8) ? 0.05 : 0.0;
  if (rng_.chance(0.5)) config.downlink = link.rate;
  if (rng_.chance(0.5)) config.uplink = link.rate;
  config.nic_budget = one_of({5us, 10us, 50us});
  config.max_ack_delay = one_of({100us, 1000us, 1000us});
  config.ping_interval = ping_;
  config.peer_timeout = plan_.peer_timeout;
  config.idle_timeout = idle_;
  if (rng_.chance(0.3)) config.max_datagram = config.initial_datagram;
  if (rng_.chance(0.1)) config.initial_datagram = config.max_datagram = config.min_datagram;
  if (rng_.chance(0.2)) config.mtu_probe_interval = 100ms;
  config.defects = defects_;
  if (has(Knob::small_limits)) draw_limits(config);
}

void Drawer::draw_limits(protocol::Config& config) {
  config.slots = one_of<std::uint16_t>({1, 2, 4});
  config.max_waiting_calls = one_of({1u, 4u, 16u});
  config.receive_memory = max_message_ + 1000 * rng_.below(64);
  config.send_memory = max_message_ + 1000 * rng_.below(64);
  config.max_incoming = one_of<std::uint64_t>({10'000, 30'000, 100'000});
  config.unscheduled_bytes = one_of({1500u, 3000u, 10'000u});
  config.max_unproven_associations = one_of({4u, 16u, 1024u});
}

// Nothing tells the peer's limits on this carrier, so all hosts have the same; and nothing may be dropped for want of
// room.
void Drawer::make_native(HostSettings& host, PortSettings& port) const {
  protocol::Config& config = host.config;
  config.carrier = protocol::Carrier::native;
  config.native_port = host.address.port;
  if (!plan_.hosts.empty()) {
    const protocol::Config& first = plan_.hosts[0].config;
    config.slots = first.slots;
    config.unscheduled_bytes = first.unscheduled_bytes;
  }
  config.receive_memory = 64u << 20;
  host.socket_buffer = port.buffer_bytes = ~std::uint64_t{0};
}

void Drawer::draw_hosts() {
  const std::size_t count = 2 + rng_.below(rng_.chance(0.3) ? 7 : 3);
  const double rates[] = {0.1, 1, 1, 10, 10, 25, 40, 100};
  const double common = one_of(rates);
  Rate slowest = Rate::gigabits_per_second(1000);
  for (std::size_t i = 0; i < count; ++i) {
    HostSettings host;
    host.name = "host" + std::to_string(i);
    host.address = {host_address(family_, 0, static_cast<std::uint8_t>(i + 1)), static_cast<std::uint16_t>(7000 + i)};
    host.seed = rng_.next();
    host.uplink.rate = Rate::gigabits_per_second(rng_.chance(0.7) ? common : one_of(rates));
    host.uplink.delay =
        Duration(delay_scale_.count() / 2 +
                 static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(delay_scale_.count()))));
    slowest = std::min(slowest, host.uplink.rate);
    draw_config(host.config, host.uplink);
    host.nic_room = one_of({1600u, 3200u, 16'384u, 65'536u});
    host.report_drain = rng_.chance(0.7);
    host.report_backlog = rng_.chance(0.7);
    host.two_steps = rng_.chance(0.5) || has(Knob::open_failure);
    if (has(Knob::open_failure)) host.open_failure = 0.02;
    host.incoming_factor = plan_.clean() ? 2 : 4;
    PortSettings port;
    port.link = host.uplink;
    port.buffer_bytes = has(Knob::small_buffers) ? one_of<std::uint64_t>({20'000, 60'000})
                                                 : one_of<std::uint64_t>({1u << 20, 4u << 20});
    if (rng_.chance(0.3)) port.ecn_threshold = 60'000;
    if (has(Knob::native)) make_native(host, port);
    plan_.hosts.push_back(host);
    plan_.downlinks.push_back(port);
    plan_.base_rtt = std::max(plan_.base_rtt, 4 * host.uplink.delay);
  }
  plan_.slowest = slowest;
  plan_.dead.assign(count, false);
}

std::vector<std::uint64_t> Drawer::sizes(const protocol::Config& config) {
  const std::uint64_t packet = config.initial_datagram - 16u - 38u;  // what a first DATA packet holds
  const std::uint64_t middle = config.initial_datagram - 16u - 22u;
  const std::uint64_t window = config.unscheduled_bytes;
  std::vector<std::uint64_t> sizes{0,          1,          7,          8,      100,        600,
                                   packet - 1, packet,     packet + 1, middle, 2 * packet, window - 1,
                                   window,     window + 1, 10'000,     65'535, 65'536,     65'537};
  if (rng_.chance(0.4)) {
    const std::uint64_t mega = 1u << 20;
    for (const std::uint64_t size : {mega - 1, mega, mega + 1, 10 * window + 1, max_message_}) {
      if (size <= max_message_) sizes.push_back(size);
    }
  }
  if (rng_.chance(0.3)) sizes = {8, 20, 100, 300, packet};  // W1-like: small only
  for (std::uint64_t& size : sizes) size = std::min(size, max_message_);
  return sizes;
}

void Drawer::draw_workload(std::size_t client, Workload& workload) {
  for (std::size_t i = 0; i < plan_.hosts.size(); ++i) {
    if (i != client && rng_.chance(0.6)) workload.targets.push_back(static_cast<int>(i));
  }
  if (workload.targets.empty()) workload.targets.push_back(static_cast<int>((client + 1) % plan_.hosts.size()));
  workload.calls = 5 + rng_.below(rng_.chance(0.2) ? 250 : 60);
  workload.open_loop = rng_.chance(0.5);
  workload.mean_gap = between(1us, fault_span_ / static_cast<int>(workload.calls));
  workload.concurrency = static_cast<std::uint32_t>(1 + rng_.below(rng_.chance(0.2) ? 60 : 8));
  workload.sizes = sizes(plan_.hosts[client].config);
  workload.byte_budget = plan_.byte_budget / plan_.hosts.size();
  workload.max_pieces = one_of({1u, 1u, 3u, 9u});
  workload.classes = one_of<std::uint8_t>({1, 1, 4});
  workload.one_way = one_of({0.0, 0.3, 0.8});
  workload.idempotent = one_of({0.0, 0.2, 1.0});
  workload.with_deadline = one_of({0.0, 0.0, 0.3});
  workload.deadline = 4 * delay_scale_ + between(200us, 30ms);
  workload.cancel = one_of({0.0, 0.0, 0.2});
  workload.cancel_after = 4 * delay_scale_ + between(10us, 3ms);
  workload.reply_later = one_of({0.0, 0.5});
  workload.service_time = between(10us, 5ms);
  workload.never = one_of({0.0, 0.3});
  workload.refuse = one_of({0.0, 0.0, 0.1});
  workload.hold_message = one_of({0.0, 0.5});
  workload.hold_time = between(10us, 4ms);
}

// Linux's packets carry no flags, classes or deadlines of ours, and nothing on them tells a server to stop.
void Drawer::make_native(Workload& workload) {
  workload.classes = 1;
  workload.one_way = workload.idempotent = 0;
  workload.with_deadline = workload.cancel = workload.never = workload.refuse = 0;
}

void Drawer::draw_workloads() {
  plan_.byte_budget = 6u << 20;
  plan_.workloads.resize(plan_.hosts.size());
  std::size_t clients = 0;
  for (std::size_t i = 0; i < plan_.hosts.size(); ++i) {
    const bool client = rng_.chance(0.6) || (i + 1 == plan_.hosts.size() && clients == 0);
    if (!client) continue;
    ++clients;
    draw_workload(i, plan_.workloads[i]);
    if (has(Knob::native)) make_native(plan_.workloads[i]);
  }
}

void Drawer::draw_loss() {
  if (has(Knob::loss)) {
    FaultRule rule = lose(one_of({0.001, 0.01, 0.05, 0.1}), Time{}, Time{} + fault_span_);
    if (rng_.chance(0.3)) rule.to = plan_.hosts[any_host()].address.host;
    plan_.rules.push_back(rule);
  }
  if (has(Knob::burst_loss)) {
    FaultRule rule;
    rule.end = Time{} + fault_span_;
    rule.burst_begin = one_of({0.001, 0.01});
    rule.burst_end = one_of({0.05, 0.3});
    plan_.rules.push_back(rule);
  }
  if (has(Knob::chosen_loss)) {
    const std::uint32_t kinds[] = {kHello, kHelloAck, kGrant,   kGrant, kAck,       kDataFirst,
                                   kAbort, kAborted,  kRelease, kHold,  kDataAgain, kCutoffs};
    FaultRule rule = drop_nth(one_of(kinds), rng_.below(3), 1 + rng_.below(4));
    if (rng_.chance(0.3)) {  // every one of that kind for a while
      rule.count = ~std::uint64_t{0};
      rule.end = Time{} + fault_span_ / 2;
    }
    plan_.rules.push_back(rule);
  }
}

void Drawer::draw_copies() {
  FaultRule rule;
  rule.end = Time{} + fault_span_;
  if (has(Knob::reorder)) {
    rule.reorder = one_of({0.01, 0.1, 0.5});
    rule.reorder_delay = one_of<Duration>({10us, 100us, 2ms});
  }
  if (has(Knob::duplicate)) rule.duplicate = one_of({0.01, 0.2});
  if (has(Knob::corrupt)) rule.corrupt = one_of({0.001, 0.03});
  if (has(Knob::truncated)) rule.truncated_copy = one_of({0.01, 0.1});
  if (has(Knob::foreign_copy)) rule.foreign_copy = one_of({0.01, 0.1});
  plan_.rules.push_back(rule);
  if (!has(Knob::late_duplicate)) return;
  FaultRule late;
  late.end = Time{} + fault_span_;
  late.duplicate = one_of({0.02, 0.3});
  late.duplicate_delay = one_of<Duration>({100ms, 3s, 40s});
  if (rng_.chance(0.5)) late.kinds = kDataFirst | kHello | kAbort;
  plan_.rules.push_back(late);
}

void Drawer::draw_partition(bool both_ways) {
  const std::size_t a = any_host();
  const std::size_t b = (a + 1 + rng_.below(plan_.hosts.size() - 1)) % plan_.hosts.size();
  const Duration longs[] = {between(100us, 20ms), between(20ms, 200ms), plan_.peer_timeout * 2};
  const Duration span = one_of(longs);
  const Time begin = fault_time();
  const HostAddress from = plan_.hosts[a].address.host;
  const HostAddress to = plan_.hosts[b].address.host;
  plan_.rules.push_back(partition(from, to, begin, begin + span));
  if (both_ways) plan_.rules.push_back(partition(to, from, begin, begin + span));
  end_at(begin + span);
  disturb_for(span);
}

void Drawer::draw_paths() {
  if (has(Knob::delay_spike)) {
    FaultRule rule;
    rule.begin = fault_time();
    rule.extra_delay = between(100us, 20ms);
    rule.end = rule.begin + between(1ms, 30ms);
    end_at(rule.end);
    plan_.rules.push_back(rule);
  }
  if (has(Knob::partition_one_way)) draw_partition(false);
  if (has(Knob::partition_two_way)) draw_partition(true);
  if (has(Knob::black_hole)) {
    const std::uint32_t sizes[] = {1232, 1300, 1452, 4000, 8000};
    FaultRule rule = black_hole(one_of(sizes), rng_.chance(0.5) ? Time{} : fault_time());
    rule.to = plan_.hosts[any_host()].address.host;
    plan_.rules.push_back(rule);  // for ever: the path is like that
  }
}

void Drawer::draw_restart() {
  const auto host = static_cast<int>(any_host());
  const Time when = fault_time();
  const Duration downs[] = {Duration(1), between(100us, 10ms), between(10ms, 500ms), plan_.peer_timeout + 300ms};
  const Time up = when + one_of(downs);
  plan_.mishaps.push_back({Mishap::Kind::crash, when, host, {}, {}, 0});
  plan_.mishaps.push_back({Mishap::Kind::boot, up, host, {}, {}, 0});
  plan_.circumstances.disrupted = true;
  end_at(up + Duration(1));  // after it, not between two mishaps of one moment
}

void Drawer::draw_close() {
  const auto host = static_cast<int>(any_host());
  const Time when = fault_time();
  plan_.mishaps.push_back({Mishap::Kind::close, when, host, {}, {}, 0});
  if (rng_.chance(0.5)) return;
  const Time up = when + between(Duration(1), 50ms);
  plan_.mishaps.push_back({Mishap::Kind::crash, up, host, {}, {}, 0});  // what is left of the process goes
  plan_.mishaps.push_back({Mishap::Kind::boot, up, host, {}, {}, 0});
  plan_.circumstances.disrupted = true;
  end_at(up + Duration(1));  // after it, not between two mishaps of one moment
}

void Drawer::draw_mishaps() {
  const auto mishap = [&](Mishap::Kind kind, Duration span) {
    const Time when = fault_time();
    plan_.mishaps.push_back({kind, when, static_cast<int>(any_host()), when + span, {}, 0});
    end_at(when + span);
    return span;
  };
  const Duration spans[] = {between(100us, 3ms), between(3ms, 60ms), between(60ms, plan_.peer_timeout / 2)};
  if (has(Knob::pause)) {
    const Duration span = mishap(Mishap::Kind::pause, one_of(spans));
    disturb_for(span);
    plan_.circumstances.timer_slack += span;
  }
  if (has(Knob::stop_reading)) plan_.circumstances.timer_slack += mishap(Mishap::Kind::stop_reading, one_of(spans));
  if (has(Knob::no_memory)) mishap(Mishap::Kind::no_memory, one_of(spans));
  if (has(Knob::restart)) draw_restart();
  if (has(Knob::close)) draw_close();
  if (has(Knob::address_change)) {
    const std::size_t host = any_host();
    const HostAddress moved = host_address(family_, 1, static_cast<std::uint8_t>(101 + host));
    const Address address{moved, plan_.hosts[host].address.port};
    plan_.mishaps.push_back({Mishap::Kind::change_address, fault_time(), static_cast<int>(host), {}, address, 0});
    plan_.circumstances.disrupted = true;
  }
  if (has(Knob::emsgsize)) {
    const std::uint32_t limits[] = {1232, 1280, 1400, 4000};
    const std::size_t host = any_host();
    const Time when = rng_.chance(0.5) ? Time{} : fault_time();
    plan_.mishaps.push_back({Mishap::Kind::interface_limit, when, static_cast<int>(host), {}, {}, one_of(limits)});
  }
  if (has(Knob::dead_host) && plan_.hosts.size() > 2) {
    // The last one; it is somebody's target at least sometimes.
    plan_.dead.back() = true;
    plan_.workloads.back() = Workload();
    plan_.circumstances.addresses_vanish = true;
    if (plan_.workloads[0].targets.empty()) draw_workload(0, plan_.workloads[0]);
    plan_.workloads[0].targets.push_back(static_cast<int>(plan_.hosts.size() - 1));
  }
}

void Drawer::draw_hostile() {
  plan_.icmp = has(Knob::icmp);
  if (!has(Knob::hostile)) return;
  for (const HostSettings& host : plan_.hosts) {
    plan_.hostile.targets.push_back(host.address);
    plan_.hostile.participants.push_back(host.address);
  }
  plan_.hostile.mean_gap = between(5us, 500us);
  plan_.hostile.end = Time{} + fault_span_;
  plan_.hostile.most = 400;
}

void Drawer::draw_rules() {
  draw_loss();
  draw_copies();
  draw_paths();
}

WorldPlan Drawer::draw() {
  draw_knobs();
  draw_times();
  draw_hosts();
  draw_workloads();
  draw_rules();
  draw_mishaps();
  draw_hostile();
  return std::move(plan_);
}

}  // namespace

const char* to_string(Knob knob) {
  static constexpr std::array<const char*, kKnobs> names{
#define HOMA_SIM_KNOB_TEXT(name, meaning) #name,
      HOMA_SIM_KNOBS(HOMA_SIM_KNOB_TEXT)
#undef HOMA_SIM_KNOB_TEXT
  };
  return names[static_cast<std::size_t>(knob)];
}

WorldPlan draw_world(std::uint64_t seed, std::uint32_t defects) {
  return Drawer(mix64(seed + 1), defects).draw();
}

}  // namespace homa::sim
