// A certificate authority for tests: keys and certificates with any names and times, in files of a folder that goes
// away.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace homa::security::test {

/// 2026-01-01: what the clocks of the tests say.
inline constexpr std::int64_t kToday = 1767225600;
inline constexpr std::int64_t kDay = 86400;

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string write(const std::string& name, const std::string& text, unsigned mode = 0600) const;
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct Subject {
  std::string alternative_names;  ///< as OpenSSL's configuration has them: "DNS:a,IP:192.0.2.1"; empty: none
  std::int64_t not_before = kToday - kDay;
  std::int64_t not_after = kToday + kDay;
};

class Authority {
 public:
  Authority(const TemporaryFolder& folder, const std::string& name);
  const std::string& certificate_file() const { return certificate_file_; }
  /// Writes NAME.crt and NAME.key.
  void issue(const std::string& name, const Subject& subject) const;

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  const TemporaryFolder& folder_;
  std::unique_ptr<EVP_PKEY, Free> key_;
  std::unique_ptr<X509, Free> certificate_;
  std::string certificate_file_;
};

}  // namespace homa::security::test
