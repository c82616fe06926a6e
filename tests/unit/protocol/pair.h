// Two endpoints joined by a perfect wire of fixed delay: the smallest world in which the core can be watched.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "protocol/endpoint.h"

namespace homa::protocol {

/// Counts what is out; may be told to refuse. Messages that a test never released end with it.
class CountingBuffers : public BufferSource {
 public:
  CountingBuffers() = default;
  ~CountingBuffers() override {
    for (const std::byte* data : out_) delete[] data;
  }
  std::byte* allocate(std::uint64_t length) override {
    if (refuse) return nullptr;
    ++live;
    return *out_.insert(new std::byte[length]).first;
  }
  void release(std::byte* data, std::uint64_t) override {
    --live;
    out_.erase(data);
    delete[] data;
  }
  bool refuse = false;
  int live = 0;

 private:
  std::set<std::byte*> out_;
};

class Pair {
 public:
  static constexpr Duration kDelay = 10us;

  struct Side {
    Address address;
    CountingBuffers buffers;
    std::unique_ptr<Endpoint> endpoint;
    std::vector<Event> events;
  };

  explicit Pair(Config client_config = {}, Config server_config = {}) {
    client.address = {HostAddress::v4(10, 0, 0, 1), 1001};
    server.address = {HostAddress::v4(10, 0, 0, 2), 1002};
    client_config.incarnation = 11;
    server_config.incarnation = 22;
    client.endpoint = std::make_unique<Endpoint>(client_config, 1, client.buffers);
    server.endpoint = std::make_unique<Endpoint>(server_config, 2, server.buffers);
    server_settings = server_config;
  }

  /// The server dies without a word and begins a new life at the same address. What the application held is gone.
  void restart_server(std::uint64_t incarnation = 33) {
    server_settings.incarnation = incarnation;
    server.endpoint = std::make_unique<Endpoint>(server_settings, incarnation, server.buffers);
  }
  /// A datagram out of nowhere, delivered at once.
  void inject(bool to_server, const Address& from, ByteView bytes) {
    Side& to = to_server ? server : client;
    to.endpoint->receive({from, to.address.host, Ecn::not_ect, bytes}, arrival_, now);
  }
  /// Both sides answer what they are asked with the same bytes, and release what they get.
  void echo() {
    on_server_event = [this](const Event& event) {
      if (event.kind == Event::Kind::request) {
        echoes_.emplace_back(event.message.data, event.message.data + event.message.length);
        reply(event.request, {echoes_.back().data(), echoes_.back().size()});
      }
      server.endpoint->release_message(event.message, now);
    };
    on_client_event = [this](const Event& event) { client.endpoint->release_message(event.message, now); };
  }
  /// The server keeps requests in `running`, unanswered.
  void hold() {
    on_server_event = [this](const Event& event) {
      if (event.kind == Event::Kind::request) running.push_back(event.request);
      server.endpoint->release_message(event.message, now);
    };
  }
  /// How the one call that finished ended.
  CallStatus status() const {
    for (const Event& event : client.events) {
      if (event.kind == Event::Kind::call_finished) return event.status;
    }
    return CallStatus::protocol_error;
  }
  static int count(const Side& side, Event::Kind kind) {
    int n = 0;
    for (const Event& event : side.events) n += event.kind == kind ? 1 : 0;
    return n;
  }

  /// Sees each train, before its datagrams.
  std::function<void(bool to_server, const Train& train)> on_train;
  /// Sees each datagram before it is delivered; false drops it.
  std::function<bool(bool to_server, ByteView bytes)> filter;

  /// Runs until nothing is left to do or `until` is true or virtual time passes `limit`.
  template <typename Until>
  bool run(Until&& until, Duration limit = 60s) {
    const Time end = now + limit;
    for (;;) {
      step_side(client, true);
      step_side(server, false);
      if (until()) return true;
      Time next = std::min(client.endpoint->next_deadline(), server.endpoint->next_deadline());
      if (!wire_.empty()) next = std::min(next, wire_.begin()->first);
      if (next == kNever || next > end) return until();
      now = std::max(now, next);
      while (!wire_.empty() && wire_.begin()->first <= now) {
        auto flying = std::move(wire_.begin()->second);
        wire_.erase(wire_.begin());
        Side& to = flying.to_server ? server : client;
        const Side& from = flying.to_server ? client : server;
        const Datagram datagram{
            from.address, to.address.host, Ecn::not_ect, {flying.bytes.data(), flying.bytes.size()}};
        to.endpoint->receive(datagram, arrival_, now);
      }
      client.endpoint->advance(now);
      server.endpoint->advance(now);
    }
  }
  void drain() {
    run([] { return false; });
  }

  StartResult call(ByteView bytes, CallOptions options = {}) {
    pieces_.push_back(bytes);
    return client.endpoint->start(server.address, {&pieces_.back(), 1, bytes.size, next_cookie_++}, options, now);
  }
  bool reply(RequestId request, ByteView bytes) {
    pieces_.push_back(bytes);
    return server.endpoint->reply(request, {&pieces_.back(), 1, bytes.size, next_cookie_++}, now);
  }

  Side client;
  Side server;
  Config server_settings;
  Time now{1s};
  std::function<void(const Event&)> on_server_event;
  std::function<void(const Event&)> on_client_event;
  std::uint64_t datagrams = 0;
  std::vector<RequestId> running;  ///< see hold()

 private:
  struct Flying {
    bool to_server;
    std::vector<std::byte> bytes;
  };
  void step_side(Side& side, bool is_client) {
    Event event;
    while (side.endpoint->next_event(event, now)) {
      side.events.push_back(event);
      const auto& handler = is_client ? on_client_event : on_server_event;
      if (handler) handler(event);
    }
    while (side.endpoint->next_transmit(now, train_)) {
      if (on_train) on_train(is_client, train_);
      flat_.resize(train_.total_bytes);
      flatten(train_, flat_.data());
      std::size_t at = 0;
      for (std::size_t i = 0; i < train_.segment_count; ++i) {
        const std::size_t size = train_.segments[i].size;
        const ByteView bytes{flat_.data() + at, size};
        ++datagrams;
        if (!filter || filter(is_client, bytes)) {
          wire_.emplace(now + kDelay, Flying{is_client, {bytes.data, bytes.data + bytes.size}});
        }
        at += size;
      }
    }
  }
  std::multimap<Time, Flying> wire_;
  std::deque<ByteView> pieces_;
  std::deque<std::vector<std::byte>> echoes_;
  std::vector<std::byte> flat_;
  std::uint64_t next_cookie_ = 1;
  Train train_;
  Arrival arrival_;
};

inline std::vector<std::byte> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<std::byte> bytes(size);
  unsigned x = seed * 2654435761u + 1;
  for (auto& byte : bytes) byte = static_cast<std::byte>((x = x * 1664525u + 1013904223u) >> 24);
  return bytes;
}

inline ByteView view(const std::vector<std::byte>& bytes) {
  return {bytes.data(), bytes.size()};
}

/// Nothing is under way, and everything was given back.
inline void expect_idle(const Pair& pair) {
  for (const Pair::Side* side : {&pair.client, &pair.server}) {
    EXPECT_EQ(side->endpoint->next_deadline(), kNever);
    EXPECT_EQ(side->buffers.live, 0);
    const auto usage = side->endpoint->usage();
    EXPECT_EQ(usage.calls + usage.requests + usage.receive_memory + usage.incoming + usage.send_memory, 0U);
  }
}

/// The two have met. Nothing is under way if the server answers.
inline void open(Pair& pair) {
  static const std::vector<std::byte> hello = pattern(1);
  ASSERT_EQ(pair.call(view(hello)).error, StartError::none);
  pair.drain();
  pair.client.events.clear();
  pair.server.events.clear();
}

}  // namespace homa::protocol
