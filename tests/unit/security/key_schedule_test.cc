#include "security/key_schedule.h"

#include <gtest/gtest.h>

#include "support.h"

namespace homa::security {
namespace {

using test::hex;
using test::secret_of;

// RFC 9001 appendix A.1: the same function with other labels.
TEST(KeySchedule, ExpandLabelAgreesWithTheVectorsOfQuic) {
  const SecretBytes secret = secret_of("c00cf151ca5be075ed0ebfb5c80323c42d6b7db67881289af4008f1f6c357aea");
  const SecretBytes key = expand_label(AeadKind::aes_128_gcm, secret, "quic key", 16);
  const SecretBytes iv = expand_label(AeadKind::aes_128_gcm, secret, "quic iv", 12);
  EXPECT_EQ(hex(key.data(), key.size()), "1f369613dd76d5467730efcbe3b1a22d");
  EXPECT_EQ(hex(iv.data(), iv.size()), "fa044b2f42a3fd3b46fb255c");
}

// docs/wire.md section 6 gives these, computed by tests/unit/security/vectors.py, which shares no code with us.
TEST(KeySchedule, VectorsOfTheWireDocument) {
  const struct {
    AeadKind kind;
    const char* key;
    const char* iv;
    const char* next;
  } rows[] = {
      {AeadKind::aes_128_gcm, "b86e880ea4fff1d7e27d5f81c4af313e", "a200b62451a796160d32d368",
       "1ee425fa459fb788e96c05ce3095e1be6b4b08418027a3fcf76ce0f6ccfc733c"},
      {AeadKind::aes_256_gcm, "8d7f4f247438c3d301f62973ad500551afb2081dfad3bcbf19f73f95fbfacec7",
       "11f73068f8a68d448dac3067",
       "160451f7c0c561832626ffafb33fa9218ce7f3105f57640f8325e60cd5b5a2de26be6af856ae60155d4497b50f801552"},
      {AeadKind::chacha20_poly1305, "2ace6c889b6b00a68da80c1042acb7f94155ba07564b871981c200a8c2d5a3e0",
       "a200b62451a796160d32d368", "1ee425fa459fb788e96c05ce3095e1be6b4b08418027a3fcf76ce0f6ccfc733c"},
  };
  for (const auto& row : rows) {
    SecretBytes secret;
    secret.resize(secret_size(row.kind));
    for (std::size_t i = 0; i < secret.size(); ++i) secret.data()[i] = static_cast<std::uint8_t>(i);
    const PhaseKey phase = phase_key(row.kind, secret);
    const SecretBytes next = next_secret(row.kind, secret);
    EXPECT_EQ(hex(phase.key.data(), phase.key.size()), row.key);
    EXPECT_EQ(hex(phase.iv.data(), phase.iv.size()), row.iv);
    EXPECT_EQ(hex(next.data(), next.size()), row.next);
  }
}

TEST(KeySchedule, NonceHasLaneAndWholeNumber) {
  Nonce iv{};
  iv[0] = 0xff;
  iv[11] = 0x0f;
  const Nonce nonce = frame_nonce(iv, 5, 0x0102030405060708);
  EXPECT_EQ(hex(nonce.data(), nonce.size()), "ff0000050102030405060707");
}

TEST(KeySchedule, SecretsAreWiped) {
  alignas(SecretBytes) std::byte place[sizeof(SecretBytes)];
  auto* secret = new (place) SecretBytes(test::repeated(AeadKind::aes_128_gcm, 0xa5));
  const volatile std::byte* const bytes = place;
  secret->~SecretBytes();
  for (std::size_t i = 0; i < SecretBytes::kMaxSize; ++i) EXPECT_TRUE(bytes[i] != std::byte{0xa5});
}

}  // namespace
}  // namespace homa::security
