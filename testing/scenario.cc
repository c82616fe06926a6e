#include "testing/scenario.h"

#include <fmt/format.h>

namespace homa::sim {

Scenario::Scenario(const ScenarioSettings& settings)
    : verdict_(medium_.loop),
      ledger_(verdict_, settings.seed),
      wire_(medium_.loop, verdict_),
      switch_(medium_),
      faults_(medium_, switch_, mix64(settings.seed)) {
  medium_.observers.push_back(&wire_);
  for (std::size_t i = 0; i < settings.hosts; ++i) {
    HostSettings host;
    host.name = "host" + std::to_string(i);
    host.address = {HostAddress::v4(10, static_cast<std::uint8_t>(i >> 16), static_cast<std::uint8_t>(i >> 8),
                                    static_cast<std::uint8_t>(i)),
                    7000};
    host.config = settings.config;
    host.seed = mix64(settings.seed * 31 + i);
    host.uplink = settings.link;
    if (settings.adjust) settings.adjust(i, host);
    hosts_.push_back(std::make_unique<Host>(medium_, verdict_, host, faults_));
    PortSettings port = settings.port;
    port.link = host.uplink;
    ports_.push_back(&switch_.add_port(port, *hosts_.back()));
    switch_.set_route(host.address.host, *ports_.back());
    wire_.participant(host.address);
    cast_.hosts.push_back(hosts_.back().get());
  }
  for (std::size_t i = 0; i < settings.hosts; ++i) {
    peers_.push_back(std::make_unique<Peer>(static_cast<int>(i), cast_, ledger_, verdict_, wire_, Workload(),
                                            mix64(settings.seed + i)));
    hosts_[i]->set_application(peers_[i].get());
    cast_.peers.push_back(peers_[i].get());
  }
}

Scenario::~Scenario() = default;

Ledger::Index Scenario::call(std::size_t from, CallRecord wish) {
  Ledger::Index index = 0;
  peers_[from]->call(wish, &index);
  return index;
}

Ledger::Index Scenario::rpc(std::size_t from, std::size_t to, std::uint64_t request, std::uint64_t response) {
  CallRecord wish;
  wish.server = static_cast<int>(to);
  wish.request_length = request;
  wish.response_length = response;
  return call(from, wish);
}

Ledger::Index Scenario::one_way(std::size_t from, std::size_t to, std::uint64_t length) {
  CallRecord wish;
  wish.server = static_cast<int>(to);
  wish.request_length = length;
  wish.one_way = true;
  return call(from, wish);
}

void Scenario::inject(const std::vector<std::byte>& bytes, const Address& from, const Address& to, bool hostile) {
  Parcel* parcel = medium_.pool.take();
  parcel->from = from;
  parcel->to = to;
  parcel->hostile = hostile;
  parcel->sent = now();
  parcel->bytes.assign(bytes.begin(), bytes.end());
  medium_.sent(*parcel);
  switch_.receive(parcel);
}

bool Scenario::run_until(const std::function<bool()>& done, Duration most) {
  return medium_.loop.run_until(done, now() + most);
}

bool Scenario::run_calls(Duration most) {
  return run_until([this] { return ledger_.open_calls() == 0; }, most);
}

bool Scenario::run_dry(Duration most) {
  return run_until([this] { return medium_.loop.pending() == 0; }, most);
}

void Scenario::trace(std::FILE* out) {
  trace_ = std::make_unique<TraceWriter>(medium_.loop, out);
  medium_.observers.push_back(trace_.get());
  for (const auto& host : hosts_) {
    names_.push_back(std::make_unique<NamedTrace>(*trace_, host->settings().name));
    host->set_trace(names_.back().get());
  }
}

std::string Scenario::judge(Duration most) {
  run_calls(most);
  for (const auto& peer : peers_) peer->wind_up();
  if (!run_dry(most)) verdict_.fail("idle_deadline", "something still ticks");
  ledger_.judge(circumstances, now());
  for (const auto& host : hosts_) {
    if (!host->running()) continue;
    const auto usage = host->endpoint().usage();
    if (usage.calls + usage.requests + usage.receive_memory + usage.incoming + usage.send_memory != 0 ||
        host->buffers().blocks() != 0 || host->payloads().live() != 0) {
      verdict_.fail("drained",
                    fmt::format("{}: calls {} requests {} receive memory {} incoming {} send memory {} buffers "
                                "{} payloads {}",
                                host->settings().name, usage.calls, usage.requests, usage.receive_memory,
                                usage.incoming, usage.send_memory, host->buffers().blocks(), host->payloads().live()));
    }
    if (host->endpoint().next_deadline() != kNever) {
      verdict_.fail("idle_deadline", host->settings().name + " is idle and has a deadline");
    }
  }
  return failures();
}

std::string Scenario::failures() const {
  std::string text;
  for (const Violation& violation : verdict_.violations()) {
    text += fmt::format("{} [{}] {}\n", to_string(violation.when), violation.checker, violation.message);
  }
  return text;
}

}  // namespace homa::sim
