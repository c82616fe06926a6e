// Packet sizes of a path: RFC 8899, and the rows 9 and 10 of the field reports.
#include "protocol/path_mtu.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace homa::protocol {
namespace {

constexpr Time kStart{1s};

void settle(PathMtu& mtu) {
  for (int i = 0; i < 64; ++i) mtu.delivered(mtu.datagram_size(), kStart, kStart);
}

/// Probes upward over a path that passes datagrams up to `passes`, as long as probes are asked for at `now`.
void probe_up(PathMtu& mtu, std::uint16_t passes, Time now) {
  for (int i = 0; i < 100; ++i) {
    settle(mtu);
    const std::uint16_t probe = mtu.next_probe(now);
    if (probe == 0) return;
    if (probe <= passes) {
      mtu.probe_acknowledged(probe, now);
    } else {
      mtu.probe_lost(probe, now);
    }
  }
  FAIL() << "probes without end";
}

TEST(PathMtu, StartsWithWhatPassesNearlyEverywhere) {
  const PathMtu mtu{Config()};
  EXPECT_EQ(mtu.datagram_size(), 1452);
}

TEST(PathMtu, ProbesOnlyAPathThatWorks) {
  PathMtu mtu{Config()};
  EXPECT_EQ(mtu.next_probe(kStart), 0);
  settle(mtu);
  const std::uint16_t probe = mtu.next_probe(kStart);
  EXPECT_GT(probe, 1452);
  EXPECT_EQ(mtu.next_probe(kStart), 0) << "one probe at a time";
  EXPECT_EQ(mtu.datagram_size(), 1452) << "data must not use a size that was not seen to pass";
}

TEST(PathMtu, GrowsToWhatThePathPasses) {
  for (const std::uint16_t passes : std::initializer_list<std::uint16_t>{1452, 1472, 4048, 8952}) {
    PathMtu mtu{Config()};
    probe_up(mtu, passes, kStart);
    EXPECT_EQ(mtu.datagram_size(), passes);
  }
}

TEST(PathMtu, ThreeLostProbesEndTheSearchUntilTheRaiseTimer) {
  const Config config;
  PathMtu mtu{config};
  for (int i = 0; i < 3; ++i) {
    settle(mtu);
    const std::uint16_t probe = mtu.next_probe(kStart);
    ASSERT_NE(probe, 0) << "probe " << i;
    mtu.probe_lost(probe, kStart);
  }
  settle(mtu);
  EXPECT_EQ(mtu.next_probe(kStart), 0);
  EXPECT_EQ(mtu.next_probe(kStart + config.mtu_probe_interval - 1ns), 0);
  EXPECT_NE(mtu.next_probe(kStart + config.mtu_probe_interval), 0);
}

TEST(PathMtu, NeverExceedsWhatThePeerTakes) {
  PathMtu mtu{Config()};
  mtu.limit(2000);
  probe_up(mtu, 8952, kStart);
  EXPECT_LE(mtu.datagram_size(), 2000);
  mtu.limit(0);  // nonsense, but the IPv6 minimum always passes
  EXPECT_EQ(mtu.datagram_size(), Config().min_datagram);
}

TEST(PathMtu, field_09_BigPacketsThatVanishWhileSmallOnesPassShrinkTheSize) {
  PathMtu mtu{Config()};
  probe_up(mtu, 8952, kStart);
  ASSERT_EQ(mtu.datagram_size(), 8952);
  int losses = 0;
  bool shrank = false;
  for (Time now = kStart + 1ms; !shrank && losses < 100; now += 1ms, ++losses) {
    mtu.lost(mtu.datagram_size(), now);
    shrank = mtu.delivered(200, now, now);
  }
  EXPECT_EQ(mtu.datagram_size(), Config().min_datagram);
  EXPECT_LE(losses, 10);
}

TEST(PathMtu, AnOutageThatSwallowsEverythingIsNoBlackHole) {
  PathMtu mtu{Config()};
  for (int i = 1; i < 1000; ++i) mtu.lost(1452, kStart + i * 1ms);
  EXPECT_FALSE(mtu.delivered(1452, kStart + 2s, kStart + 2s));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(mtu.delivered(200, kStart + 3s, kStart + 3s));
  EXPECT_EQ(mtu.datagram_size(), 1452);
}

TEST(PathMtu, ABurstBeforeABigPacketThatArrivedIsNoBlackHole) {
  PathMtu mtu{Config()};
  EXPECT_FALSE(mtu.delivered(1452, kStart + 1s, kStart + 1s));
  for (int i = 0; i < 16; ++i) mtu.lost(1452, kStart + i * 1ms);  // sent earlier, found lost later
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(mtu.delivered(200, kStart + 2s, kStart + 2s));
  EXPECT_EQ(mtu.datagram_size(), 1452);
}

TEST(PathMtu, SmallPacketsLostAreNoBlackHole) {
  PathMtu mtu{Config()};
  for (int i = 1; i < 1000; ++i) {
    mtu.lost(100, kStart + i * 1ms);
    EXPECT_FALSE(mtu.delivered(100, kStart + i * 1ms, kStart + i * 1ms));
  }
  EXPECT_EQ(mtu.datagram_size(), 1452);
}

TEST(PathMtu, field_10_TooBigShrinksAtOnce) {
  PathMtu mtu{Config()};
  EXPECT_TRUE(mtu.too_big(1452, kStart));
  EXPECT_LT(mtu.datagram_size(), 1452);
  // An interface of MTU 1280: at most one refusal per candidate, then the minimum, which is never refused.
  for (int i = 0; i < 4 && mtu.datagram_size() > 1232; ++i) mtu.too_big(mtu.datagram_size(), kStart);
  EXPECT_EQ(mtu.datagram_size(), 1232);
  EXPECT_FALSE(mtu.too_big(1232, kStart)) << "nothing smaller to go to";
  EXPECT_EQ(mtu.datagram_size(), 1232);
}

TEST(PathMtu, ARefusedProbeCostsNoSize) {
  PathMtu mtu{Config()};
  settle(mtu);
  const std::uint16_t probe = mtu.next_probe(kStart);
  ASSERT_NE(probe, 0);
  EXPECT_FALSE(mtu.too_big(probe, kStart));
  EXPECT_EQ(mtu.datagram_size(), 1452);
  settle(mtu);
  EXPECT_EQ(mtu.next_probe(kStart + 1s), 0) << "the system knows its link";
}

TEST(PathMtu, ALateRefusalNeverRaisesTheSize) {
  // Two trains of 8952 were under way; the second refusal comes after smaller sizes were refused too.
  PathMtu mtu{Config()};
  probe_up(mtu, 8952, kStart);
  mtu.too_big(8952, kStart);
  while (mtu.datagram_size() > 1352) mtu.too_big(mtu.datagram_size(), kStart);
  mtu.too_big(8952, kStart);
  EXPECT_LE(mtu.datagram_size(), 1352);
}

}  // namespace
}  // namespace homa::protocol
