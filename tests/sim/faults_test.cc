// Each fault knob does what its name says, and nothing else.
#include "testing/faults.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "testing/hostile.h"
#include "testing/packet_kind.h"
#include "wire/datagram.h"

namespace homa::sim {
namespace {

class Faults : public ::testing::Test, public Sink, public PacketObserver {
 protected:
  Faults() : injector(medium, *this, 42) { medium.observers = {this}; }
  void receive(Parcel* parcel) override {
    numbers.push_back(parcel->number);
    times.push_back(medium.loop.now());
    corrupt += parcel->corrupt ? 1 : 0;
    copies += parcel->duplicate ? 1 : 0;
    sizes.push_back(parcel->size());
    sources.insert(parcel->from.host.ip);
    medium.pool.give(parcel);
  }
  void sent(const Parcel&) override {}
  void delivered(const Parcel&) override {}
  void dropped(const Parcel& parcel, DropReason why) override {
    lost.push_back(parcel.number);
    reason = why;
  }
  void send(std::size_t size = 100, std::uint32_t kinds = kData, std::uint8_t from = 1, std::uint8_t to = 2) {
    Parcel* parcel = medium.pool.take();
    parcel->bytes.resize(size);
    parcel->kinds = kinds;
    parcel->from.host = HostAddress::v4(10, 0, 0, from);
    parcel->to.host = HostAddress::v4(10, 0, 0, to);
    injector.receive(parcel);
  }
  void send_many(int count) {
    for (int i = 0; i < count; ++i) send();
  }
  void run() {
    while (medium.loop.step()) {
    }
  }
  static HostAddress host(std::uint8_t last) { return HostAddress::v4(10, 0, 0, last); }

  Medium medium;
  FaultInjector injector;
  std::vector<std::uint64_t> numbers;
  std::vector<Time> times;
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint64_t> lost;
  std::set<std::array<std::uint8_t, 16>> sources;
  DropReason reason{};
  int corrupt = 0;
  int copies = 0;
};

TEST_F(Faults, WithoutRulesAllPassesAtOnce) {
  send_many(100);
  EXPECT_EQ(numbers.size(), 100u);
  EXPECT_EQ(medium.loop.pending(), 0u);
}

TEST_F(Faults, RandomLossLosesItsShare) {
  injector.add(lose(0.1));
  send_many(10000);
  EXPECT_NEAR(static_cast<double>(lost.size()), 1000, 150);
  EXPECT_EQ(reason, DropReason::random_loss);
}

TEST_F(Faults, BurstsAreLong) {
  FaultRule rule;
  rule.burst_begin = 0.01;
  rule.burst_end = 0.1;
  injector.add(rule);
  send_many(10000);
  std::size_t neighbours = 0;
  for (std::size_t i = 1; i < lost.size(); ++i) neighbours += lost[i] == lost[i - 1] + 1 ? 1u : 0u;
  EXPECT_GT(lost.size(), 300u);
  EXPECT_GT(neighbours * 10, lost.size() * 8);  // bursts of ten on average
}

TEST_F(Faults, DropsTheNthOfOneKind) {
  const std::size_t rule = injector.add(drop_nth(kGrant, 1, 2));
  for (int i = 0; i < 5; ++i) {
    send(100, kData);
    send(100, kGrant | kAck);
  }
  EXPECT_EQ(lost, (std::vector<std::uint64_t>{4, 6}));
  EXPECT_EQ(injector.acted_on(rule), 2u);
}

TEST_F(Faults, PartitionHasADirectionAndAnEnd) {
  injector.add(partition(host(1), host(2), Time(10us), Time(20us)));
  send();
  medium.loop.run_until(Time(15us));
  send();
  send(100, kData, 2, 1);
  send(100, kData, 1, 3);
  medium.loop.run_until(Time(20us));
  send();
  EXPECT_EQ(lost, (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(reason, DropReason::partition);
}

TEST_F(Faults, BlackHoleSwallowsTheBig) {
  injector.add(black_hole(1452));
  send(1452);
  send(1453);
  EXPECT_EQ(lost, (std::vector<std::uint64_t>{2}));
}

TEST_F(Faults, ReorderLetsOthersPass) {
  FaultRule rule;
  rule.reorder = 0.5;
  injector.add(rule);
  send_many(100);
  run();
  EXPECT_EQ(numbers.size(), 100u);
  EXPECT_FALSE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_LE(times.back(), Time(100us));
}

TEST_F(Faults, DelaySpikeKeepsOrder) {
  FaultRule rule;
  rule.extra_delay = 5ms;
  injector.add(rule);
  send_many(10);
  run();
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_EQ(times.front(), Time(5ms));
}

TEST_F(Faults, DuplicatesComeLate) {
  FaultRule rule;
  rule.duplicate = 1;
  rule.duplicate_delay = 40s;
  injector.add(rule);
  send_many(50);
  run();
  EXPECT_EQ(copies, 50);
  EXPECT_GT(times.back(), Time(20s));
}

TEST_F(Faults, CorruptionIsMarkedForTheChecksum) {
  FaultRule rule;
  rule.corrupt = 1;
  injector.add(rule);
  send_many(3);
  EXPECT_EQ(corrupt, 3);
}

TEST_F(Faults, TruncatedAndForeignCopiesComeBesides) {
  FaultRule rule;
  rule.truncated_copy = 1;
  rule.foreign_copy = 1;
  injector.add(rule);
  send_many(20);
  run();
  EXPECT_EQ(numbers.size(), 60u);
  EXPECT_GT(sources.size(), 2u);
  EXPECT_LT(*std::min_element(sizes.begin(), sizes.end()), 100u);
  EXPECT_TRUE(lost.empty());
}

TEST_F(Faults, SameSeedSameFate) {
  const auto fates = [](std::uint64_t seed) {
    struct Out final : Sink {
      void receive(Parcel* parcel) override { passed.push_back(parcel->number); }
      std::vector<std::uint64_t> passed;
    } out;
    Medium other;
    FaultInjector chance(other, out, seed);
    chance.add(lose(0.5));
    for (int i = 0; i < 100; ++i) chance.receive(other.pool.take());
    return out.passed;
  };
  EXPECT_EQ(fates(1), fates(1));
  EXPECT_NE(fates(1), fates(2));
}

TEST_F(Faults, HostileTrafficIsVariedAndEnds) {
  HostileSettings settings;
  settings.targets = {{host(2), 7000}};
  settings.most = 300;
  HostileTraffic traffic(medium, *this, settings, 9);
  traffic.start();
  run();
  EXPECT_EQ(numbers.size(), 300u);
  EXPECT_GT(sources.size(), 50u);
  EXPECT_GT(std::set<std::uint32_t>(sizes.begin(), sizes.end()).size(), 50u);
}

TEST(PacketKind, NamesWhatAFrameCarries) {
  std::vector<std::byte> bytes(wire::kFrameHeaderSize + wire::kGrantSize + wire::kPingSize);
  wire::GrantPacket grant;
  grant.id = wire::RpcId::of(3, 9);
  grant.offset = 5000;
  grant.hold = true;
  wire::FrameHeader header;
  header.destination.value = 1;
  header.packet_number = 1;
  wire::encode_frame_header(header, wire::kGrantSize + wire::kPingSize, bytes.data());
  wire::encode_packet(grant, bytes.data() + wire::kFrameHeaderSize);
  wire::encode_packet(wire::PingPacket(), bytes.data() + wire::kFrameHeaderSize + wire::kGrantSize);
  wire::Frame frame;
  ASSERT_EQ(wire::decode_frame({bytes.data(), bytes.size()}, frame), wire::DecodeError::none);
  EXPECT_EQ(kinds_of(frame), static_cast<std::uint32_t>(kGrant | kHold | kPing));
  const std::string text = describe(ByteView{bytes.data(), bytes.size()});
  EXPECT_NE(text.find("GRANT 3.9 to 5000"), std::string::npos) << text;
  EXPECT_NE(text.find("PING"), std::string::npos) << text;
  EXPECT_NE(describe(ByteView{bytes.data(), 20}).find("unreadable"), std::string::npos);
}

}  // namespace
}  // namespace homa::sim
