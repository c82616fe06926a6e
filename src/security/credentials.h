// What this process shows to its peers and by what it judges them: certificates or one pre-shared key, loaded from
// files and checked whole before anything is sent.
//
// Threads: immutable once loaded; shared by all handshakes that began with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct ssl_ctx_st;

namespace homa::security {

/// Paths of PEM files.
struct CertificateFiles {
  std::string certificate;  ///< ours first, then the authorities between it and the root
  std::string private_key;
  std::string authorities;  ///< the bundle by which peers are judged
};

/// A key that both sides hold. Anybody who has it is any of its holders.
struct PskFile {
  std::string identity;  ///< 1 to 128 bytes, sent in clear; like a user name
  std::string path;      ///< one line of hexadecimal digits: 16 to 64 bytes
};

/// Peers that may speak with us: exact subject alternative names ("spiffe://...", a host name, an IP address). Empty:
/// everybody whom an authority of ours has signed.
using AllowList = std::vector<std::string>;

enum class CipherChoice : std::uint8_t { any, aes_128_gcm, aes_256_gcm, chacha20_poly1305 };

class Credentials {
 public:
  /// Null on failure, with one line in `error` that names the file and the cause. `warnings`: usable, but unwise.
  static std::shared_ptr<const Credentials> load(const CertificateFiles& files, AllowList allowed, CipherChoice cipher,
                                                 std::string& error, std::vector<std::string>& warnings);
  static std::shared_ptr<const Credentials> load(const PskFile& file, CipherChoice cipher, std::string& error,
                                                 std::vector<std::string>& warnings);
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  bool uses_psk() const { return !psk_.empty(); }
  const std::string& psk_identity() const { return psk_identity_; }
  const std::vector<std::uint8_t>& psk() const { return psk_; }
  const AllowList& allowed() const { return allowed_; }
  ssl_ctx_st* context() const { return context_.get(); }

 private:
  explicit Credentials(CipherChoice cipher);
  struct FreeContext {
    void operator()(ssl_ctx_st* context) const;
  };
  std::unique_ptr<ssl_ctx_st, FreeContext> context_;
  std::string psk_identity_;
  std::vector<std::uint8_t> psk_;  // wiped when it goes
  AllowList allowed_;
};

}  // namespace homa::security
