#include "security/frame_keys.h"

#include <gtest/gtest.h>

#include "support.h"

namespace homa::security {
namespace {

using test::Bytes;
using test::Ends;
using test::open_frame;
using test::sealed_frame;

constexpr std::string_view kText = "the quick brown fox jumps over the lazy dog, and over again";

class EachCipher : public ::testing::TestWithParam<AeadKind> {};
INSTANTIATE_TEST_SUITE_P(FrameKeys, EachCipher,
                         ::testing::Values(AeadKind::aes_128_gcm, AeadKind::aes_256_gcm, AeadKind::chacha20_poly1305));

TEST_P(EachCipher, RoundTripHoweverThePayloadIsCut) {
  Ends ends(GetParam());
  std::uint64_t number = 0;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{17}, kText.size()}) {
    for (std::size_t cut = 0; cut <= size; ++cut) {
      std::string clear;
      const Bytes frame = sealed_frame(ends.client, 2, ++number, kText.substr(0, size), size < 3 ? 1 : 3);
      ASSERT_TRUE(open_frame(ends.server, frame, number, clear, cut));
      EXPECT_EQ(clear, kText.substr(0, size));
    }
  }
}

TEST_P(EachCipher, AnyFlippedBitIsRefused) {
  Ends ends(GetParam());
  Bytes frame = sealed_frame(ends.client, 1, 77, kText);
  std::string clear;
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    frame[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(open_frame(ends.server, frame, 77, clear)) << "bit " << bit;
    frame[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_TRUE(open_frame(ends.server, frame, 77, clear));
}

TEST_P(EachCipher, TruncatedAndExtendedFramesAreRefused) {
  Ends ends(GetParam());
  const Bytes frame = sealed_frame(ends.client, 1, 9, kText);
  std::string clear;
  for (std::size_t size = 0; size < frame.size(); ++size) {
    EXPECT_FALSE(
        open_frame(ends.server, Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size)), 9, clear));
  }
  Bytes longer = frame;
  longer.push_back({});
  EXPECT_FALSE(open_frame(ends.server, longer, 9, clear));
}

TEST_P(EachCipher, AFrameBelongsToItsNumberItsLaneItsDirectionAndItsPeers) {
  Ends ends(GetParam());
  Ends others(GetParam() == AeadKind::aes_128_gcm ? AeadKind::chacha20_poly1305 : AeadKind::aes_128_gcm);
  const Bytes frame = sealed_frame(ends.client, 1, 1000, kText);
  std::string clear;
  EXPECT_FALSE(open_frame(ends.server, frame, 1001, clear));
  EXPECT_FALSE(open_frame(ends.server, frame, 1000 + (std::uint64_t{1} << 32), clear));  // its wrapped twin
  Bytes other_lane = frame;
  other_lane[1] = std::byte{2};
  EXPECT_FALSE(open_frame(ends.server, other_lane, 1000, clear));
  EXPECT_FALSE(open_frame(ends.client, frame, 1000, clear));  // reflected
  EXPECT_FALSE(open_frame(others.server, frame, 1000, clear));
  EXPECT_TRUE(open_frame(ends.server, frame, 1000, clear));
}

TEST_P(EachCipher, HibernationForgetsNoKey) {
  Ends ends(GetParam());
  std::string clear;
  ASSERT_TRUE(open_frame(ends.server, sealed_frame(ends.client, 0, 1, kText), 1, clear));
  const std::size_t awake = ends.server.memory_bytes();
  ends.client.hibernate();
  ends.server.hibernate();
  EXPECT_LT(ends.server.memory_bytes(), awake);
  ASSERT_TRUE(open_frame(ends.server, sealed_frame(ends.client, 0, 2, kText), 2, clear));
  EXPECT_EQ(clear, kText);
}

// One frame sealed and opened at each number, with the acknowledgment of the one before.
TEST_P(EachCipher, PhasesFollowEachOtherWithoutAnyPause) {
  Ends ends(GetParam(), 4);
  int changes = 0;
  bool phase = false;
  for (std::uint64_t number = 1; number <= 60; ++number) {
    std::string clear;
    const Bytes frame = sealed_frame(ends.client, 3, number, kText);
    const bool now = (frame[0] & std::byte{2}) != std::byte{0};
    changes += now != phase ? 1 : 0;
    phase = now;
    ASSERT_TRUE(open_frame(ends.server, frame, number, clear)) << number;
    EXPECT_EQ(clear, kText);
    ends.client.acknowledged(3, number);
  }
  EXPECT_EQ(changes, 14);
}

TEST_P(EachCipher, LateFramesOfThePhaseBeforeStillOpen) {
  Ends ends(GetParam(), 2);
  const Bytes first = sealed_frame(ends.client, 7, 1, "first");
  const Bytes second = sealed_frame(ends.client, 0, 1, "late");
  ends.client.acknowledged(7, 1);
  const Bytes third = sealed_frame(ends.client, 7, 2, "third");
  ASSERT_NE(first[0], third[0]);
  std::string clear;
  EXPECT_TRUE(open_frame(ends.server, third, 2, clear));
  EXPECT_EQ(clear, "third");
  EXPECT_TRUE(open_frame(ends.server, second, 1, clear));
  EXPECT_EQ(clear, "late");
  EXPECT_TRUE(open_frame(ends.server, first, 1, clear));
  EXPECT_TRUE(open_frame(ends.server, sealed_frame(ends.client, 7, 3, "third"), 3, clear));
}

TEST_P(EachCipher, NoNewPhaseBeforeThePeerHasThePresentOneUnlessTheKeyIsWornOut) {
  Ends ends(GetParam(), 4);
  int sealed = 0;
  const Bytes first = sealed_frame(ends.client, 0, 1, kText);
  for (std::uint64_t number = 2;; ++number) {
    ++sealed;
    if (sealed_frame(ends.client, 0, number, kText)[0] != first[0]) break;
  }
  EXPECT_EQ(sealed, 8);
}

TEST_P(EachCipher, AcknowledgmentsOfAnOlderPhaseConfirmNothing) {
  Ends ends(GetParam(), 2);
  std::string clear;
  (void)sealed_frame(ends.client, 0, 1, kText);
  (void)sealed_frame(ends.client, 0, 2, kText);
  ends.client.acknowledged(0, 2);
  const Bytes second_phase = sealed_frame(ends.client, 0, 3, kText);
  (void)sealed_frame(ends.client, 0, 4, kText);
  ends.client.acknowledged(0, 2);
  EXPECT_EQ(sealed_frame(ends.client, 0, 5, kText)[0], second_phase[0]);
}

TEST_P(EachCipher, ForgedFramesOfTheOtherPhaseChangeNothing) {
  Ends ends(GetParam());
  std::string clear;
  Bytes forged = sealed_frame(ends.client, 0, 1, kText);
  forged[0] ^= std::byte{2};
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(open_frame(ends.server, forged, 1, clear));
  EXPECT_TRUE(open_frame(ends.server, sealed_frame(ends.client, 0, 2, kText), 2, clear));
}

}  // namespace
}  // namespace homa::security
