// Both engines do the same, whatever the sizes.
#include "security/aead.h"

#include <gtest/gtest.h>

#include <vector>

#include "support.h"

namespace homa::security {
namespace {

using test::Bytes;

constexpr AeadKind kKinds[] = {AeadKind::aes_128_gcm, AeadKind::aes_256_gcm, AeadKind::chacha20_poly1305};

Bytes numbered(std::size_t size) {
  Bytes result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<std::byte>(i * 7 + 1);
  return result;
}

Bytes seal(Aead& aead, const Bytes& associated, const Bytes& clear, std::size_t cut) {
  const ByteView pieces[] = {{clear.data(), cut}, {clear.data() + cut, clear.size() - cut}};
  Bytes out(clear.size() + wire::kSealTagSize);
  const bool whole = cut == clear.size();
  aead.seal(3, 0x123456789a, {associated.data(), associated.size()}, pieces, whole ? 1 : 2, out.data());
  return out;
}

bool open(Aead& aead, const Bytes& associated, const Bytes& sealed, std::size_t cut, Bytes& clear) {
  clear.assign(sealed.size() - wire::kSealTagSize, {});
  const protocol::SealedFrame::Piece pieces[] = {{clear.data(), cut}, {clear.data() + cut, clear.size() - cut}};
  protocol::SealedFrame frame;
  frame.lane = 3;
  frame.number = 0x123456789a;
  frame.authenticated = {associated.data(), associated.size()};
  frame.ciphertext = {sealed.data(), clear.size()};
  frame.tag = sealed.data() + clear.size();
  frame.pieces = pieces;
  frame.piece_count = 2;
  return aead.open(frame);
}

TEST(AeadEngines, SealTheSameBytesAndOpenEachOthers) {
  if (!is_available(AeadEngine::ipsec_mb)) GTEST_SKIP() << "one engine only on this machine";
  for (const AeadKind kind : kKinds) {
    const SecretBytes secret = test::repeated(kind, 9);
    const auto sealer = make_aead(kind, Aead::Use::seal, secret, AeadEngine::openssl);
    const auto opener = make_aead(kind, Aead::Use::open, secret, AeadEngine::openssl);
    const auto other = make_aead(kind, Aead::Use::seal, secret, AeadEngine::ipsec_mb);
    for (std::size_t size = 0; size <= 1500; size += size < 200 ? 1 : 97) {
      const Bytes clear = numbered(size);
      const Bytes associated = numbered(16 + size % 90);
      const Bytes reference = seal(*sealer, associated, clear, size);
      for (const std::size_t cut : {std::size_t{0}, size / 3, size - size / 5, size}) {
        ASSERT_EQ(seal(*other, associated, clear, cut), reference) << size << " cut at " << cut;
        Bytes opened;
        ASSERT_TRUE(open(*other, associated, reference, cut, opened));
        EXPECT_EQ(opened, clear);
        ASSERT_TRUE(open(*opener, associated, reference, cut, opened));
        EXPECT_EQ(opened, clear);
      }
    }
  }
}

TEST(AeadEngines, EveryBitCounts) {
  for (const AeadEngine engine : {AeadEngine::openssl, AeadEngine::ipsec_mb}) {
    if (!is_available(engine)) continue;
    for (const AeadKind kind : kKinds) {
      const SecretBytes secret = test::repeated(kind, 9);
      const auto sealer = make_aead(kind, Aead::Use::seal, secret, engine);
      const auto opener = make_aead(kind, Aead::Use::open, secret, engine);
      Bytes associated = numbered(38);
      Bytes sealed = seal(*sealer, associated, numbered(70), 70);
      Bytes clear;
      for (Bytes* const bytes : {&associated, &sealed}) {
        for (std::size_t bit = 0; bit < 8 * bytes->size(); ++bit) {
          (*bytes)[bit / 8] ^= std::byte{1} << (bit % 8);
          EXPECT_FALSE(open(*opener, associated, sealed, 33, clear)) << to_string(engine) << ", bit " << bit;
          (*bytes)[bit / 8] ^= std::byte{1} << (bit % 8);
        }
      }
      EXPECT_TRUE(open(*opener, associated, sealed, 33, clear));
    }
  }
}

}  // namespace
}  // namespace homa::security
