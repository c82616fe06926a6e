#include "wire/endian.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "wire_support.h"

namespace homa::wire::test {
namespace {

TEST(Endian, LoadsTheMostSignificantByteFirst) {
  const Bytes bytes = bytes_of("0102030405060708");
  EXPECT_EQ(load8(bytes.data()), 0x01);
  EXPECT_EQ(load16(bytes.data()), 0x0102);
  EXPECT_EQ(load32(bytes.data()), 0x01020304U);
  EXPECT_EQ(load48(bytes.data()), 0x010203040506ULL);
  EXPECT_EQ(load64(bytes.data()), 0x0102030405060708ULL);
}

TEST(Endian, StoreOf48BitsTouchesSixBytesAndDropsTheUpperOnes) {
  Bytes bytes = bytes_of("aaaaaaaaaaaaaaaa");
  store48(bytes.data() + 1, 0xffff010203040506ULL);
  EXPECT_EQ(bytes, bytes_of("aa010203040506aa"));
}

TEST(Endian, EveryWidthRoundTripsAtEveryAlignment) {
  Rng rng(1);
  Bytes bytes(16);
  for (int i = 0; i < 1000; ++i) {
    std::byte* at = bytes.data() + rng.below(8);
    const std::uint64_t value = rng.next();
    store64(at, value);
    EXPECT_EQ(load64(at), value);
    store48(at, value);
    EXPECT_EQ(load48(at), value & 0xffffffffffff);
    store32(at, static_cast<std::uint32_t>(value));
    EXPECT_EQ(load32(at), static_cast<std::uint32_t>(value));
    store16(at, static_cast<std::uint16_t>(value));
    EXPECT_EQ(load16(at), static_cast<std::uint16_t>(value));
    store8(at, static_cast<std::uint8_t>(value));
    EXPECT_EQ(load8(at), static_cast<std::uint8_t>(value));
  }
}

}  // namespace
}  // namespace homa::wire::test
