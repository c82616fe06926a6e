#include "core_world.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace homa::fuzz {

using protocol::CallOptions;
using protocol::CallStatus;
using protocol::Config;
using protocol::Endpoint;
using protocol::Event;
using protocol::Message;
using protocol::Payload;
using protocol::RequestId;
using protocol::StartError;
using protocol::StartResult;
using protocol::TransmitFailure;

namespace {

constexpr Duration kDelay = 10us;
constexpr std::size_t kMostFlying = 300;
constexpr std::size_t kMostSeen = 16;
constexpr int kMostTimers = 100;     // in one step; those beyond come late, all at once
constexpr int kMostTrains = 10'000;  // of one endpoint before it must wait for something

// Large, and without state between uses.
protocol::Train train;
protocol::Arrival arrival;
wire::Frame sent_frame;

/// Small limits, so that a short input reaches them.
Config small_config() {
  Config config;
  config.max_message_length = kMaxMessage;
  config.slots = 4;
  config.unscheduled_bytes = 4000;
  config.receive_memory = 60'000;
  config.max_associations = 6;
  config.max_requests = 6;
  config.max_unproven_associations = 2;
  config.max_waiting_calls = 4;
  config.send_memory = 100'000;
  config.max_incoming = 20'000;
  config.overcommitment = 2;
  return config;
}

HostAddress host_address(std::uint8_t last, bool v6) {
  HostAddress address = HostAddress::v4(10, 0, 0, last);
  if (!v6) return address;
  address.ip = {0xfe, 0x80};
  address.ip[15] = last;
  address.scope = 3;
  return address;
}

}  // namespace

World::World(std::uint8_t variant) {
  for (std::size_t i = 0; i < 2; ++i) {
    hosts_[i].address = {host_address(static_cast<std::uint8_t>(i + 1), (variant & 64u) != 0),
                         static_cast<std::uint16_t>(1000 + i)};
    hosts_[i].config = small_config();
  }
  hosts_[0].config.priority_levels = std::array<std::uint8_t, 4>{8, 4, 2, 1}[variant & 3u];
  if ((variant & 4u) != 0) hosts_[1].config.unscheduled_bytes = 0;
  if ((variant & 8u) != 0) hosts_[0].config.max_message_length = 5000;
  if ((variant & 16u) != 0) hosts_[1].config.deadline_classes = 2;
  if ((variant & 32u) != 0) hosts_[0].config.uplink = Rate::gigabits_per_second(1);
  for (Host& host : hosts_) birth(host);
}

void World::birth(Host& host) {
  host.config.incarnation = ++lives_;
  host.closed = false;
  host.endpoint = std::make_unique<Endpoint>(host.config, lives_, host.buffers);
  if (kTell) host.endpoint->set_trace(&host == &hosts_[0] ? &stories_[0] : &stories_[1]);
}

// --- what applications do --------------------------------------------------------------------------------------

void World::call(Host& from, std::uint64_t length, CallOptions options) {
  const Payload bytes = from.payload(++cookies_, length);
  options.cookie = bytes.cookie;
  const StartResult result = from.endpoint->start(other(from).address, bytes, options, now_);
  FUZZ_CHECK(!from.closed || result.error == StartError::shut_down);
  if (result.error != StartError::none) {
    from.payloads.erase(bytes.cookie);
    return;
  }
  from.calls[bytes.cookie] = result.call;
  if (options.idempotent) idempotent_.insert(bytes.cookie);
}

RequestId World::take_request(Host& who, std::size_t which) {
  const auto at = who.requests.begin() + static_cast<std::ptrdiff_t>(which % who.requests.size());
  const RequestId request = *at;
  who.requests.erase(at);
  return request;
}

void World::answer(Host& who, std::size_t which, std::uint64_t length) {
  if (who.requests.empty()) return;
  const RequestId request = take_request(who, which);
  const Payload bytes = who.payload(++cookies_, length);
  if (!who.endpoint->reply(request, bytes, now_)) who.payloads.erase(bytes.cookie);
}

void World::refuse(Host& who, std::size_t which) {
  if (who.requests.empty()) return;
  (void)who.endpoint->refuse(take_request(who, which), CallStatus::refused, now_);
}

void World::release_last(Host& who) {
  if (who.messages.empty()) return;
  who.endpoint->release_message(who.messages.back(), now_);
  who.messages.pop_back();
}

void World::answer_all(Host& who) {
  while (!who.messages.empty()) release_last(who);
  while (!who.requests.empty()) answer(who, 0, 100);
}

void World::restart(Host& who) {
  while (!who.messages.empty()) release_last(who);
  who.endpoint.reset();
  FUZZ_CHECK(who.buffers.live == 0);
  who.requests.clear();
  who.calls.clear();
  who.payloads.clear();
  birth(who);
}

void World::close(Host& who) {
  who.endpoint->close(now_);
  who.closed = true;
  take_events(who);
  FUZZ_CHECK(who.calls.empty());  // ended with shut_down, none left behind
}

// --- what the network does -------------------------------------------------------------------------------------

void World::receive(const Flying& flying) {
  const ByteView bytes{flying.bytes.data(), flying.bytes.size()};
  if (kTell) tell_frame(now_, "arrives", bytes, flying.to);
  for (Host& who : hosts_) {
    if (who.address == flying.to) {
      who.endpoint->receive({flying.from, flying.to.host, Ecn::not_ect, bytes}, arrival, now_);
    }
  }
}

void World::deliver(std::size_t which, bool stays) {
  if (wire_.empty()) return;
  const auto at = wire_.begin() + static_cast<std::ptrdiff_t>(which % wire_.size());
  if (stays) return receive(*at);
  const Flying flying = std::move(*at);
  wire_.erase(at);
  receive(flying);
}

void World::deliver_all() {
  for (std::size_t i = 0; i < kMostFlying && !wire_.empty(); ++i) {
    now_ += kDelay / 10;
    deliver(0, false);
    pump();
  }
}

void World::lose(std::size_t which) {
  if (!wire_.empty()) wire_.erase(wire_.begin() + static_cast<std::ptrdiff_t>(which % wire_.size()));
}

void World::inject_from_stranger(const Flying& flying) {
  stranger_.sends({flying.bytes.data(), flying.bytes.size()});
  receive(flying);
}

void World::send(Host& who) {
  FUZZ_CHECK(train.segment_count >= 1 && train.segment_count <= protocol::kMaxTrainSegments);
  if (fail_next_ && train.association_generation != 0 && train.segment_size() > 1300) {
    fail_next_ = false;
    return who.endpoint->transmit_failed(train, TransmitFailure::too_big, now_);
  }
  flat_.resize(train.total_bytes);
  FUZZ_CHECK(flatten(train, flat_.data()) == train.total_bytes);
  std::size_t at = 0;
  for (std::size_t i = 0; i < train.segment_count; ++i) {
    const std::size_t size = train.segments[i].size;
    FUZZ_CHECK(i + 1 == train.segment_count ? size <= train.segment_size() : size == train.segment_size());
    note_sent(who, {flat_.data() + at, size});
    at += size;
  }
}

void World::note_sent(const Host& who, ByteView bytes) {
  if (kTell) tell_frame(now_, "sent to be", bytes, train.to);
  FUZZ_CHECK(wire::decode_frame(bytes, sent_frame) == wire::DecodeError::none);
  if (train.to == stranger_.address) return stranger_.receives(sent_frame, bytes.size);
  if (!sent_frame.header.reversed && sent_frame.header.destination.value != 0) {
    if (seen_.size() == kMostSeen) seen_.pop_front();
    seen_.push_back({sent_frame.header, who.address, train.to});
  }
  if (wire_.size() < kMostFlying && !outage_) {
    wire_.push_back({who.address, train.to, {bytes.data, bytes.data + bytes.size}});
  }
}

// --- time ------------------------------------------------------------------------------------------------------

void World::advance_all() {
  for (Host& who : hosts_) who.endpoint->advance(now_);
}

Time World::next_deadline() const {
  return std::min(hosts_[0].endpoint->next_deadline(), hosts_[1].endpoint->next_deadline());
}

void World::pass(Duration time) {
  const Time until = now_ + time;
  for (int i = 0; i < kMostTimers; ++i) {
    const Time next = next_deadline();
    if (next > until) break;
    now_ = std::max(now_ + 1us, next);
    advance_all();
    pump();
  }
  now_ = std::max(now_, until);
  advance_all();
}

void World::pump() {
  for (Host& who : hosts_) {
    take_events(who);
    for (int trains = 0; who.endpoint->next_transmit(now_, train); ++trains) {
      FUZZ_CHECK(trains < kMostTrains);
      send(who);
    }
    take_events(who);
  }
}

void World::take_events(Host& who) {
  Event event;
  while (who.endpoint->next_event(event, now_)) {
    if (event.message.length > 0) {
      FUZZ_CHECK(event.message.data != nullptr && event.message.length <= who.config.max_message_length);
      who.messages.push_back(event.message);
    }
    switch (event.kind) {
      case Event::Kind::request:
      case Event::Kind::one_way:
        if (event.peer != stranger_.address) judge(event.message, true);  // a stranger's bytes are its own affair
        if (event.kind == Event::Kind::request) who.requests.push_back(event.request);
        break;
      case Event::Kind::call_finished:
        FUZZ_CHECK(who.calls.erase(event.cookie) == 1);
        if (event.status == CallStatus::ok) judge(event.message, false);
        break;
      case Event::Kind::payload_released:
        FUZZ_CHECK(who.payloads.erase(event.payload_cookie) == 1);
        break;
      case Event::Kind::request_aborted:
      case Event::Kind::writable:
        break;
    }
  }
}

// --- judgement -------------------------------------------------------------------------------------------------

void World::judge(const Message& message, bool is_request) {
  if (forged_ || message.length < sizeof(std::uint64_t)) return;
  std::uint64_t tag = 0;
  std::memcpy(&tag, message.data, sizeof tag);
  FUZZ_CHECK(std::memcmp(message.data + sizeof tag, kPattern.bytes.data(), message.length - sizeof tag) == 0);
  FUZZ_CHECK(!is_request || executed_.insert(tag).second || idempotent_.count(tag) > 0);
}

void World::check() const {
  for (const Host& who : hosts_) {
    const Endpoint::Usage usage = who.endpoint->usage();
    FUZZ_CHECK(usage.associations <= who.config.max_associations);
    FUZZ_CHECK(usage.unproven_associations <= who.config.max_unproven_associations);
    FUZZ_CHECK(usage.requests <= who.config.max_requests);
    FUZZ_CHECK(usage.receive_memory <= who.config.receive_memory);
    FUZZ_CHECK(usage.receive_memory == who.buffers.live);
    FUZZ_CHECK(usage.calls == who.calls.size());
    FUZZ_CHECK(usage.core_memory < (4u << 20));
    std::uint64_t referenced = 0;
    for (const auto& [cookie, out] : who.payloads) {
      for (const ByteView& piece : out.pieces) referenced += piece.size;
    }
    FUZZ_CHECK(usage.send_memory == referenced);
  }
}

bool World::settled() const {
  return std::all_of(std::begin(hosts_), std::end(hosts_), [](const Host& who) {
    return who.endpoint->next_deadline() == kNever && who.requests.empty() && who.messages.empty();
  });
}

void World::settle() {
  outage_ = fail_next_ = false;
  for (Host& who : hosts_) who.buffers.refuse = false;
  if (forged_) {
    settle_by_closing();
  } else {
    settle_by_waiting();
  }
  if (kTell) std::for_each(std::begin(hosts_), std::end(hosts_), tell_usage);
  FUZZ_CHECK(settled());
  check_empty();
}

void World::settle_by_closing() {
  for (Host& who : hosts_) {
    answer_all(who);
    close(who);
    pump();
    answer_all(who);
  }
  pass(1s);  // a timer may fire once more, for nothing
}

void World::settle_by_waiting() {
  const Time until = now_ + 200s;
  for (int turns = 0; now_ < until && !(wire_.empty() && settled()); ++turns) {
    FUZZ_CHECK(turns < 200'000);
    pump();
    if (!wire_.empty()) {
      now_ += kDelay;
      for (std::size_t i = wire_.size(); i > 0; --i) deliver(0, false);
    } else if (const Time next = next_deadline(); next != kNever) {
      now_ = std::max(now_ + 1us, next);
    }
    advance_all();
    pump();
    for (Host& who : hosts_) answer_all(who);
  }
  pump();
}

void World::check_empty() const {
  for (const Host& who : hosts_) {
    const Endpoint::Usage usage = who.endpoint->usage();
    FUZZ_CHECK(who.calls.empty() && usage.calls == 0);
    FUZZ_CHECK(who.payloads.empty() && usage.send_memory == 0);
    FUZZ_CHECK(who.buffers.live == 0 && usage.receive_memory == 0);
    FUZZ_CHECK(usage.incoming == 0);
    FUZZ_CHECK(usage.requests == 0);
  }
}

}  // namespace homa::fuzz
