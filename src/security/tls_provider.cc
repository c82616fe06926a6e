#include "security/tls_provider.h"

#include <sys/stat.h>

#include <chrono>
#include <utility>

#include "base/address_text.h"
#include "security/tls_handshake.h"

namespace homa::security {
namespace {

std::array<const std::string*, 3> paths_of(const std::variant<CertificateFiles, PskFile>& files) {
  if (const auto* const psk = std::get_if<PskFile>(&files)) return {&psk->path, nullptr, nullptr};
  const auto& certificate = std::get<CertificateFiles>(files);
  return {&certificate.certificate, &certificate.private_key, &certificate.authorities};
}

}  // namespace

std::unique_ptr<TlsProvider> TlsProvider::make(TlsConfig config, std::string& error) {
  std::unique_ptr<TlsProvider> result(new TlsProvider(std::move(config)));
  result->seen_ = result->look();
  result->credentials_ = result->load(error);
  return result->credentials_ != nullptr ? std::move(result) : nullptr;
}

TlsProvider::FileStates TlsProvider::look() const {
  FileStates states;
  const auto paths = paths_of(config_.files);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    struct stat facts {};
    if (paths[i] == nullptr || stat(paths[i]->c_str(), &facts) != 0) continue;
    states[i] = {facts.st_ino, facts.st_size, facts.st_ctim.tv_sec * 1'000'000'000 + facts.st_ctim.tv_nsec};
  }
  return states;
}

std::shared_ptr<const Credentials> TlsProvider::load(std::string& error) const {
  std::vector<std::string> warnings;
  const auto* const psk = std::get_if<PskFile>(&config_.files);
  auto result = psk != nullptr ? Credentials::load(*psk, config_.cipher, error, warnings)
                               : Credentials::load(std::get<CertificateFiles>(config_.files), config_.allowed,
                                                   config_.cipher, error, warnings);
  for (const std::string& warning : warnings) log(warning);
  return result;
}

std::shared_ptr<const Credentials> TlsProvider::credentials() const {
  const std::lock_guard lock(mutex_);
  return credentials_;
}

// Whoever replaces certificate and key writes one of them first. In between they do not fit: the old ones go on being
// used, and the next look sees the other file change as well.
std::shared_ptr<const Credentials> TlsProvider::credentials_at(Time now) {
  {
    const std::lock_guard lock(mutex_);
    if (now < next_check_ || is_checking_) return credentials_;
    next_check_ = now + kCheckInterval;
    is_checking_ = true;
  }
  // Reading takes milliseconds; handshakes on other threads need not wait for that. States are taken before the
  // contents: a file that changes meanwhile looks changed next time too.
  const FileStates states = look();
  const bool changed = states != seen_;  // written below alone, by one thread at a time
  std::string error;
  std::shared_ptr<const Credentials> renewed = changed ? load(error) : nullptr;
  std::shared_ptr<const Credentials> result;
  {
    const std::lock_guard lock(mutex_);
    seen_ = states;
    if (renewed != nullptr) credentials_ = renewed;
    result = credentials_;
    is_checking_ = false;
  }
  if (changed) log(renewed != nullptr ? "credentials were read again" : error + "; the old ones stay in use");
  return result;
}

std::unique_ptr<protocol::Handshake> TlsProvider::connect(const Address& server, ByteView parameters, Time now) {
  std::string name = config_.expected_name ? config_.expected_name(server) : std::string();
  if (name.empty()) name = format(server.host);
  return std::make_unique<TlsHandshake>(credentials_at(now), TlsHandshake::Side::client, format(server),
                                        std::move(name), parameters, wall_clock_zero(now), now);
}

std::unique_ptr<protocol::Handshake> TlsProvider::accept(const Address& client, ByteView parameters, Time now) {
  return std::make_unique<TlsHandshake>(credentials_at(now), TlsHandshake::Side::server, format(client), "", parameters,
                                        wall_clock_zero(now), now);
}

// Asked anew for each handshake: the system's clock may have been put right since the last one.
std::int64_t TlsProvider::wall_clock_zero(Time now) const {
  const std::int64_t today = config_.wall_clock
                                 ? config_.wall_clock()
                                 : std::chrono::system_clock::now().time_since_epoch() / std::chrono::seconds(1);
  return today - now.time_since_epoch() / 1s;
}

void TlsProvider::log(const std::string& line) const {
  if (config_.log) config_.log(line);
}

}  // namespace homa::security
