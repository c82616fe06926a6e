#include "protocol/endpoint.h"

#include <gtest/gtest.h>

#include "pair.h"

namespace homa::protocol {
namespace {

// Boundary sizes of the field reports: around a packet, around the unscheduled limit, 64 KB, 1 MB.
const std::size_t kSizes[] = {0,     1,     1397,  1398,  1399,   1414,    1415,    1452,    1453,
                              65535, 65536, 65537, 65538, 100000, 1048575, 1048576, 1048577, 10000000};

TEST(Endpoint, EchoesEverySize) {
  for (const std::size_t size : kSizes) {
    SCOPED_TRACE(size);
    Pair pair;
    const auto request = pattern(size);
    bool done = false;
    pair.on_server_event = [&](const Event& event) {
      if (event.kind != Event::Kind::request) return;
      ASSERT_EQ(event.message.length, size);
      EXPECT_TRUE(size == 0 || std::memcmp(event.message.data, request.data(), size) == 0);
      EXPECT_TRUE(pair.reply(event.request, view(request)));
      pair.server.endpoint->release_message(event.message, pair.now);
    };
    pair.on_client_event = [&](const Event& event) {
      if (event.kind != Event::Kind::call_finished) return;
      EXPECT_EQ(event.status, CallStatus::ok) << to_string(event.status);
      EXPECT_EQ(event.message.length, size);
      EXPECT_TRUE(size == 0 || std::memcmp(event.message.data, request.data(), size) == 0);
      pair.client.endpoint->release_message(event.message, pair.now);
      done = true;
    };
    ASSERT_EQ(pair.call(view(request)).error, StartError::none);
    EXPECT_TRUE(pair.run([&] { return done; }));
    pair.drain();
    for (Pair::Side* side : {&pair.client, &pair.server}) {
      EXPECT_EQ(side->endpoint->next_deadline(), kNever);
      EXPECT_EQ(side->buffers.live, 0);
      const auto usage = side->endpoint->usage();
      EXPECT_EQ(usage.calls + usage.requests + usage.receive_memory + usage.incoming + usage.send_memory, 0u);
      EXPECT_EQ(side->endpoint->counters().packets_lost, 0u);
      EXPECT_EQ(side->endpoint->counters().data_rejected, 0u);
    }
  }
}

TEST(Endpoint, NativeCarrierEchoesEverySizeWithoutLoss) {
  for (const std::size_t size : kSizes) {
    SCOPED_TRACE(size);
    Config client;
    client.carrier = Carrier::native;
    client.initial_datagram = 1480;
    client.native_port = 1001;
    Config server = client;
    server.native_port = 1002;
    Pair pair(client, server);
    const auto request = pattern(size);
    bool done = false;
    pair.on_server_event = [&](const Event& event) {
      if (event.kind != Event::Kind::request) return;
      EXPECT_TRUE(pair.reply(event.request, view(request)));
      pair.server.endpoint->release_message(event.message, pair.now);
    };
    pair.on_client_event = [&](const Event& event) {
      if (event.kind != Event::Kind::call_finished) return;
      EXPECT_EQ(event.status, CallStatus::ok);
      ASSERT_EQ(event.message.length, size);
      EXPECT_TRUE(size == 0 || std::memcmp(event.message.data, request.data(), size) == 0);
      pair.client.endpoint->release_message(event.message, pair.now);
      done = true;
    };
    ASSERT_EQ(pair.call(view(request)).error, StartError::none);
    EXPECT_TRUE(pair.run([&] { return done; }));
    pair.drain();
    EXPECT_EQ(pair.client.endpoint->next_deadline(), kNever);
    EXPECT_EQ(pair.client.buffers.live + pair.server.buffers.live, 0);
  }
}

TEST(Endpoint, OneWayMessageIsReleasedWhenTaken) {
  Pair pair;
  const auto bytes = pattern(3000);
  CallOptions options;
  options.one_way = true;
  ASSERT_EQ(pair.call(view(bytes), options).error, StartError::none);
  CallStatus status = CallStatus::cancelled;
  bool released = false;
  pair.on_server_event = [&](const Event& event) {
    EXPECT_EQ(event.kind, Event::Kind::one_way);
    EXPECT_EQ(event.message.length, bytes.size());
    pair.server.endpoint->release_message(event.message, pair.now);
  };
  pair.on_client_event = [&](const Event& event) {
    if (event.kind == Event::Kind::call_finished) status = event.status;
    released = released || event.kind == Event::Kind::payload_released;
  };
  pair.drain();
  EXPECT_EQ(status, CallStatus::ok);
  EXPECT_TRUE(released);
  EXPECT_EQ(pair.server.buffers.live, 0);
}

TEST(Endpoint, EverySingleLossIsRepaired) {
  const auto request = pattern(20000);
  for (int victim = 0; victim < 60; ++victim) {
    SCOPED_TRACE(victim);
    Pair pair;
    int count = 0;
    pair.filter = [&](bool, ByteView) { return count++ != victim; };
    bool done = false;
    pair.on_server_event = [&](const Event& event) {
      if (event.kind != Event::Kind::request) return;
      pair.reply(event.request, view(request));
      pair.server.endpoint->release_message(event.message, pair.now);
    };
    pair.on_client_event = [&](const Event& event) {
      if (event.kind != Event::Kind::call_finished) return;
      EXPECT_EQ(event.status, CallStatus::ok);
      EXPECT_EQ(std::memcmp(event.message.data, request.data(), request.size()), 0);
      pair.client.endpoint->release_message(event.message, pair.now);
      done = true;
    };
    ASSERT_EQ(pair.call(view(request)).error, StartError::none);
    EXPECT_TRUE(pair.run([&] { return done; }, 1s));
    pair.drain();
    EXPECT_EQ(pair.client.endpoint->next_deadline(), kNever);
    EXPECT_EQ(pair.server.endpoint->next_deadline(), kNever);
    EXPECT_EQ(pair.client.buffers.live + pair.server.buffers.live, 0);
  }
}

}  // namespace
}  // namespace homa::protocol
