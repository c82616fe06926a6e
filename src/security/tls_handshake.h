// One side of one TLS 1.3 handshake (RFC 8446) by OpenSSL, in memory: bytes in, bytes out (docs/wire.md section 6).
//
// Threads: one at a time.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/protection.h"
#include "security/credentials.h"

struct ssl_st;
struct ssl_session_st;
struct bio_st;
struct evp_md_st;
struct x509_store_ctx_st;

namespace homa::security {

/// Bytes that a peer may make us read in one handshake: generous for chains of certificates.
inline constexpr std::size_t kMaxHandshakeBytes = 64 * 1024;

class TlsHandshake final : public protocol::Handshake {
 public:
  enum class Side : std::uint8_t { client, server };

  /// `expected_name`: of the server; a host name, an IP address or a URI. Not used by servers or with a pre-shared key.
  /// `wall_clock_zero`: the time of the day, in seconds since 1970, at Time zero.
  TlsHandshake(std::shared_ptr<const Credentials> credentials, Side side, std::string peer, std::string expected_name,
               ByteView parameters, std::int64_t wall_clock_zero, Time now);
  ~TlsHandshake() override;
  TlsHandshake(const TlsHandshake&) = delete;
  TlsHandshake& operator=(const TlsHandshake&) = delete;

  State advance(ByteView in, Time now, std::vector<std::byte>& out) override;
  ByteView peer_parameters() const override { return {peer_parameters_.data(), peer_parameters_.size()}; }
  std::unique_ptr<protocol::FrameKeys> take_keys() override;
  std::shared_ptr<const protocol::PeerIdentity> peer() const override { return identity_; }
  protocol::SecurityFault fault() const override { return fault_; }
  std::string explanation() const override { return explanation_; }
  std::size_t memory_bytes() const override;

  // --- called back by OpenSSL (tls_context.cc) -----------------------------------------------------------------
  static TlsHandshake& of(const ssl_st* ssl);
  ByteView parameters() const { return {parameters_.data(), parameters_.size()}; }
  bool take_parameters(ByteView parameters);
  bool judge(x509_store_ctx_st* store);
  bool offer_psk(const evp_md_st* digest, const unsigned char** identity, std::size_t* size, ssl_session_st** session);
  bool find_psk(std::string_view identity, ssl_session_st** session);

 private:
  State finish();
  State fail(protocol::SecurityFault fault, std::string explanation);
  State fail_as_reported();
  ssl_session_st* psk_session() const;

  const std::shared_ptr<const Credentials> credentials_;
  const Side side_;
  const std::string peer_;  // for people
  const std::string expected_name_;
  const std::int64_t wall_clock_zero_;
  std::vector<std::byte> parameters_;
  std::vector<std::byte> peer_parameters_;

  struct FreeTls {
    void operator()(ssl_st* ssl) const;
  };
  std::unique_ptr<ssl_st, FreeTls> ssl_;
  bio_st* in_ = nullptr;  // both belong to ssl_
  bio_st* out_ = nullptr;

  State state_ = State::running;
  std::size_t received_ = 0;
  protocol::SecurityFault fault_ = protocol::SecurityFault::none;
  protocol::SecurityFault judged_ = protocol::SecurityFault::none;  // why judge() or find_psk() refused
  std::string explanation_;
  std::shared_ptr<const protocol::PeerIdentity> identity_;
  std::unique_ptr<protocol::FrameKeys> keys_;
};

}  // namespace homa::security
