#include "simulation/port.h"

#include <gtest/gtest.h>

#include <vector>

namespace homa::simulation {
namespace {

struct Receiver final : sim::EventTarget {
  explicit Receiver(sim::EventLoop& l) : loop(l) {}
  void on_event(std::uint8_t, std::uint64_t argument) override {
    const auto* packet = reinterpret_cast<const Packet*>(argument);
    order.push_back(packet->source);
    times.push_back(loop.now());
    marked += packet->ecn == Ecn::ce ? 1 : 0;
  }
  sim::EventLoop& loop;
  std::vector<std::uint32_t> order;
  std::vector<Time> times;
  int marked = 0;
};

class PortTest : public ::testing::Test {
 protected:
  PortSettings settings() {
    PortSettings settings;
    settings.rate = Rate::gigabits_per_second(10);
    settings.far_end = &receiver_;
    return settings;
  }
  Packet* packet(std::uint32_t number, std::uint32_t bytes, std::uint8_t queue = 0) {
    Packet* packet = pool_.take();
    packet->source = number;
    packet->wire_bytes = bytes;
    packet->queue = queue;
    packet->ecn = Ecn::ect0;
    packet->tail = Time{};
    return packet;
  }
  void drain() {
    while (loop_.step()) {
    }
  }

  sim::EventLoop loop_;
  PacketPool pool_;
  Receiver receiver_{loop_};
};

TEST_F(PortTest, UrgentPacketsOvertakeWaitingOnesButNotTheOneThatIsSent) {
  Port port(loop_, pool_, settings());
  for (std::uint32_t i = 0; i < 4; ++i) port.enqueue(packet(i, 1538, 1));
  port.enqueue(packet(10, 84, 7));
  port.enqueue(packet(11, 84, 5));
  port.enqueue(packet(12, 84, 7));
  EXPECT_EQ(port.waiting_bytes(), 3 * 1538u + 3 * 84u);
  drain();
  EXPECT_EQ(receiver_.order, (std::vector<std::uint32_t>{0, 10, 12, 11, 1, 2, 3}));
}

// 97 bytes at 10 Gbit/s are 77.6 ns: what is left of a nanosecond must not be lost, nor gained.
TEST_F(PortTest, WithOneQueueNobodyOvertakes) {
  PortSettings one_queue = settings();
  one_queue.one_queue = true;
  Port port(loop_, pool_, one_queue);
  for (std::uint32_t i = 0; i < 3; ++i) port.enqueue(packet(i, 1538, 1));
  port.enqueue(packet(10, 84, 7));
  port.enqueue(packet(3, 1538, 1));
  drain();
  EXPECT_EQ(receiver_.order, (std::vector<std::uint32_t>{0, 1, 2, 10, 3}));
}

TEST_F(PortTest, TimeDoesNotDrift) {
  Port port(loop_, pool_, settings());
  constexpr std::uint32_t kPackets = 100000;
  for (std::uint32_t i = 0; i < kPackets; ++i) port.enqueue(packet(i, 97));
  drain();
  EXPECT_NEAR(static_cast<double>((receiver_.times.back() - Time{}).count()), kPackets * 77.6, 1.0);
}

TEST_F(PortTest, AnIdlePortCostsOneEventPerPacket) {
  PortSettings slow = settings();
  slow.delay = 250ns;
  Port port(loop_, pool_, slow);
  port.enqueue(packet(0, 1538));
  drain();
  EXPECT_EQ(loop_.executed(), 1u);
  EXPECT_EQ(receiver_.times[0], Time(1230ns + 250ns));
}

TEST_F(PortTest, AFullBufferDropsAndCounts) {
  PortSettings small = settings();
  small.buffer_bytes = 3000;
  Port port(loop_, pool_, small);
  for (std::uint32_t i = 0; i < 5; ++i) port.enqueue(packet(i, 1500));
  EXPECT_EQ(port.counts().dropped, 2u);  // one is sent, two wait
  EXPECT_EQ(port.counts().max_waiting_bytes, 3000u);
  EXPECT_EQ(pool_.live(), 3u);
  drain();
  EXPECT_EQ(receiver_.order, (std::vector<std::uint32_t>{0, 1, 2}));
}

// Dynamic threshold with alpha 1: one busy port takes half of the memory and leaves the other half to others.
TEST_F(PortTest, ASharedBufferKeepsRoomForOtherPorts) {
  SharedBuffer shared{30000, 1.0, 0};
  PortSettings sharing = settings();
  sharing.shared = &shared;
  Port busy(loop_, pool_, sharing);
  Port other(loop_, pool_, sharing);
  for (std::uint32_t i = 0; i < 100; ++i) busy.enqueue(packet(i, 1500));
  EXPECT_EQ(busy.waiting_bytes(), 15000u);
  for (std::uint32_t i = 0; i < 3; ++i) other.enqueue(packet(i, 1500));
  EXPECT_EQ(other.counts().dropped, 0u);
  EXPECT_EQ(shared.used, 18000u);
  drain();
  EXPECT_EQ(shared.used, 0u);
}

TEST_F(PortTest, MarksWhatFindsMoreThanTheThreshold) {
  PortSettings marking = settings();
  marking.ecn_threshold_bytes = 3000;
  Port port(loop_, pool_, marking);
  for (std::uint32_t i = 0; i < 6; ++i) port.enqueue(packet(i, 1500));
  Packet* deaf = packet(6, 1500);
  deaf->ecn = Ecn::not_ect;
  port.enqueue(deaf);
  drain();
  EXPECT_EQ(receiver_.marked, 2);  // 0 is sent; 1, 2 and 3 find 0, 1500 and 3000; 4 and 5 find more
  EXPECT_EQ(port.counts().marked, 2u);
}

TEST_F(PortTest, MeanQueueIsItsIntegral) {
  Port port(loop_, pool_, settings());
  for (std::uint32_t i = 0; i < 3; ++i) port.enqueue(packet(i, 1250));  // 1 us each
  drain();
  EXPECT_DOUBLE_EQ(port.counts().waiting_byte_ns, 2500.0 * 1000 + 1250.0 * 1000);
  EXPECT_EQ(port.counts().bytes_sent, 3750u);
}

// Cut-through: the far end may act when it has read the header, but the tail cannot leave before it has come.
TEST_F(PortTest, CutThroughSavesTheSerializationOfEveryLinkButOne) {
  PortSettings last = settings();
  last.rate = Rate::gigabits_per_second(40);
  Port second(loop_, pool_, last);
  struct Passer final : sim::EventTarget {
    explicit Passer(Port& p) : port(p) {}
    void on_event(std::uint8_t, std::uint64_t argument) override { port.enqueue(reinterpret_cast<Packet*>(argument)); }
    Port& port;
  } passer(second);
  PortSettings first = settings();
  first.far_end = &passer;
  first.cut_through = true;
  first.delay = 250ns;
  Port port(loop_, pool_, first);
  port.enqueue(packet(0, 1538));
  drain();
  EXPECT_EQ(receiver_.times[0], Time(1230ns + 250ns));  // the slow link's time, once
}

}  // namespace
}  // namespace homa::simulation
