// Links and switches: exact times, strict priorities, tail drop, ECN marks, routes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/link.h"
#include "testing/parcel.h"
#include "testing/switch.h"

namespace homa::sim {
namespace {

struct Arrivals final : Sink {
  explicit Arrivals(Medium& m) : medium(m) {}
  void receive(Parcel* parcel) override {
    times.push_back(medium.loop.now());
    priorities.push_back(index(parcel->priority));
    ecn.push_back(parcel->ecn);
    numbers.push_back(parcel->number);
    medium.pool.give(parcel);
  }
  Medium& medium;
  std::vector<Time> times;
  std::vector<int> priorities;
  std::vector<Ecn> ecn;
  std::vector<std::uint64_t> numbers;
};

struct Drops final : PacketObserver {
  void sent(const Parcel&) override {}
  void delivered(const Parcel&) override {}
  void dropped(const Parcel&, DropReason reason) override { reasons.push_back(reason); }
  std::vector<DropReason> reasons;
};

Parcel* parcel(Medium& medium, std::size_t size, int priority = 0) {
  Parcel* made = medium.pool.take();
  made->bytes.resize(size);
  made->priority = Priority{static_cast<std::uint8_t>(priority)};
  made->to.host = HostAddress::v4(10, 0, 0, 1);
  return made;
}

PortSettings port(double gigabits, Duration delay, std::uint64_t buffer = 1 << 20) {
  PortSettings settings;
  settings.link = {Rate::gigabits_per_second(gigabits), delay, kWireOverhead};
  settings.buffer_bytes = buffer;
  return settings;
}

TEST(Link, OnePacketArrivesAfterSerializationAndDelay) {
  Medium medium;
  Arrivals arrivals(medium);
  Port link(medium, port(10, 3us), arrivals);
  link.receive(parcel(medium, 1250 - kWireOverhead));  // 1250 bytes at 10 Gbit/s: 1 us
  while (medium.loop.step()) {
  }
  ASSERT_EQ(arrivals.times.size(), 1u);
  EXPECT_EQ(arrivals.times[0], Time(4us));
}

TEST(Link, SerializationDoesNotDrift) {
  // 67 bytes at 100 Gbit/s take 5.36 ns: only the carried fraction makes 1000 of them take 5360 ns.
  Medium medium;
  Arrivals arrivals(medium);
  Port link(medium, port(100, 0ns), arrivals);
  for (int i = 0; i < 1000; ++i) link.receive(parcel(medium, 1));
  while (medium.loop.step()) {
  }
  EXPECT_EQ(arrivals.times.back(), Time(5360ns));
}

TEST(Switch, HigherPrioritiesGoFirstAndOrderInsideOneIsKept) {
  Medium medium;
  Arrivals arrivals(medium);
  Port out(medium, port(1, 0ns), arrivals);
  for (int priority : {0, 3, 0, 7, 3, 7, 5}) out.receive(parcel(medium, 1000, priority));
  while (medium.loop.step()) {
  }
  // The first is on the wire before the others come; nothing is preempted.
  EXPECT_EQ(arrivals.priorities, (std::vector<int>{0, 7, 7, 5, 3, 3, 0}));
  EXPECT_LT(arrivals.numbers[1], arrivals.numbers[2]);
  EXPECT_LT(arrivals.numbers[4], arrivals.numbers[5]);
}

TEST(Switch, OneQueueWhenPrioritiesAreOff) {
  Medium medium;
  Arrivals arrivals(medium);
  PortSettings settings = port(1, 0ns);
  settings.strict_priority = false;
  Port out(medium, settings, arrivals);
  for (int priority : {0, 3, 7}) out.receive(parcel(medium, 1000, priority));
  while (medium.loop.step()) {
  }
  EXPECT_EQ(arrivals.priorities, (std::vector<int>{0, 3, 7}));
}

TEST(Switch, WhatExceedsTheBufferIsLost) {
  Medium medium;
  Drops drops;
  medium.observers.push_back(&drops);
  Arrivals arrivals(medium);
  Port out(medium, port(1, 0ns, 3 * (1000 + kWireOverhead)), arrivals);
  for (int i = 0; i < 5; ++i) out.receive(parcel(medium, 1000));
  while (medium.loop.step()) {
  }
  EXPECT_EQ(arrivals.times.size(), 3u);
  EXPECT_EQ(drops.reasons, (std::vector<DropReason>{DropReason::queue_full, DropReason::queue_full}));
  EXPECT_EQ(medium.pool.live(), 0u);
}

TEST(Switch, MarksAboveTheThresholdOnlyWhatMayBeMarked) {
  Medium medium;
  Arrivals arrivals(medium);
  PortSettings settings = port(1, 0ns);
  settings.ecn_threshold = 2500;
  Port out(medium, settings, arrivals);
  for (int i = 0; i < 5; ++i) {
    Parcel* made = parcel(medium, 1000);
    made->ecn = i == 4 ? Ecn::not_ect : Ecn::ect0;
    out.receive(made);
  }
  while (medium.loop.step()) {
  }
  EXPECT_EQ(arrivals.ecn, (std::vector<Ecn>{Ecn::ect0, Ecn::ect0, Ecn::ect0, Ecn::ce, Ecn::not_ect}));
}

TEST(Switch, RoutesByHostAndDropsTheRest) {
  Medium medium;
  Drops drops;
  medium.observers.push_back(&drops);
  Arrivals one(medium);
  Arrivals two(medium);
  Switch network(medium);
  network.set_route(HostAddress::v4(10, 0, 0, 1), network.add_port(port(1, 0ns), one));
  Port& second = network.add_port(port(1, 0ns), two);
  network.set_route(HostAddress::v4(10, 0, 0, 2), second);
  network.receive(parcel(medium, 10));
  network.set_route(HostAddress::v4(10, 0, 0, 1), second);
  network.receive(parcel(medium, 10));
  network.remove_route(HostAddress::v4(10, 0, 0, 1));
  network.receive(parcel(medium, 10));
  while (medium.loop.step()) {
  }
  EXPECT_EQ(one.times.size(), 1u);
  EXPECT_EQ(two.times.size(), 1u);
  EXPECT_EQ(drops.reasons, (std::vector<DropReason>{DropReason::no_route}));
}

TEST(Switch, SteadyStateReusesParcels) {
  Medium medium;
  Arrivals arrivals(medium);
  Port out(medium, port(1, 0ns), arrivals);
  Parcel* first = parcel(medium, 1000);
  out.receive(first);
  while (medium.loop.step()) {
  }
  EXPECT_EQ(medium.pool.take(), first);
}

}  // namespace
}  // namespace homa::sim
