#include "security/credentials.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/assert.h"
#include "security/tls_context.h"

namespace homa::security {
namespace {

constexpr std::size_t kPskMin = 16;
constexpr std::size_t kPskMax = 64;
constexpr std::size_t kPskIdentityMax = 128;

std::string library_reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "no PEM data";
}

bool readable(const char* what, const std::string& path, std::string& error) {
  if (path.empty()) {
    error = std::string("no ") + what + " is named";
    return false;
  }
  if (std::ifstream file(path); file && file.peek() != std::ifstream::traits_type::eof()) return true;
  struct stat facts {};
  const bool there = stat(path.c_str(), &facts) == 0;
  const char* const cause = !there                   ? std::strerror(errno)
                            : S_ISDIR(facts.st_mode) ? "is a directory"
                            : facts.st_size == 0     ? "is empty"
                                                     : "cannot be read (permission?)";
  error = std::string(what) + " " + path + ": " + cause;
  return false;
}

void warn_if_shared(const std::string& path, std::vector<std::string>& warnings) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0 && (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    warnings.push_back("others can read the key in " + path + "; cure: chmod 600 " + path);
  }
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Null reason: fine.
const char* parse_psk(std::string& line, std::vector<std::uint8_t>& key) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  if (line.size() % 2 != 0) return "an odd number of hexadecimal digits";
  if (line.size() < 2 * kPskMin) return "shorter than 16 bytes (32 hexadecimal digits)";
  if (line.size() > 2 * kPskMax) return "longer than 64 bytes (128 hexadecimal digits)";
  for (std::size_t i = 0; i < line.size(); i += 2) {
    const int high = digit(line[i]);
    const int low = digit(line[i + 1]);
    if (high < 0 || low < 0) return "not one line of hexadecimal digits";
    key.push_back(static_cast<std::uint8_t>(16 * high + low));
  }
  return nullptr;
}

}  // namespace

void Credentials::FreeContext::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

Credentials::Credentials(CipherChoice cipher) : context_(make_tls_context(cipher)) {}

Credentials::~Credentials() {
  OPENSSL_cleanse(psk_.data(), psk_.size());
}

std::shared_ptr<const Credentials> Credentials::load(const CertificateFiles& files, AllowList allowed,
                                                     CipherChoice cipher, std::string& error,
                                                     std::vector<std::string>& warnings) {
  if (!readable("certificate", files.certificate, error) || !readable("private key", files.private_key, error) ||
      !readable("bundle of authorities", files.authorities, error)) {
    return nullptr;
  }
  std::shared_ptr<Credentials> result(new Credentials(cipher));
  SSL_CTX* const context = result->context_.get();
  ERR_clear_error();
  const auto refuse = [&](const char* what, const std::string& path) {
    error = std::string(what) + " " + path + ": " + library_reason();
    ERR_clear_error();
    return nullptr;
  };
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return refuse("certificate", files.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.private_key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return refuse("private key", files.private_key);
  }
  if (SSL_CTX_load_verify_file(context, files.authorities.c_str()) != 1) {
    return refuse("bundle of authorities", files.authorities);
  }
  warn_if_shared(files.private_key, warnings);
  result->allowed_ = std::move(allowed);
  return result;
}

std::shared_ptr<const Credentials> Credentials::load(const PskFile& file, CipherChoice cipher, std::string& error,
                                                     std::vector<std::string>& warnings) {
  if (file.identity.empty() || file.identity.size() > kPskIdentityMax) {
    error = "the identity of a pre-shared key has 1 to 128 bytes";
    return nullptr;
  }
  if (!readable("pre-shared key", file.path, error)) return nullptr;
  std::shared_ptr<Credentials> result(new Credentials(cipher));
  result->psk_.reserve(kPskMax);  // grows nowhere else: no copy stays behind
  std::ifstream stream(file.path);
  std::string line;
  std::getline(stream, line);
  const char* reason = parse_psk(line, result->psk_);
  OPENSSL_cleanse(line.data(), line.size());
  if (std::string more; reason == nullptr && stream >> more) reason = "more than one line";
  if (reason != nullptr) {
    error = "pre-shared key " + file.path + ": " + reason;
    return nullptr;
  }
  warn_if_shared(file.path, warnings);
  result->psk_identity_ = file.identity;
  return result;
}

}  // namespace homa::security
