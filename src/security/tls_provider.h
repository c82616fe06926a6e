// Makes the handshakes of a process, with credentials that are read again when their files change.
//
// Threads: any number at a time. Associations live on with the keys that they have; only new handshakes see new files.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "protocol/protection.h"
#include "security/credentials.h"

namespace homa::security {

struct TlsConfig {
  std::variant<CertificateFiles, PskFile> files;
  AllowList allowed;  ///< certificates only
  CipherChoice cipher = CipherChoice::any;
  /// The name that the server at this address must prove. Null, or an empty answer: the address itself.
  std::function<std::string(const Address&)> expected_name;
  /// Seconds since 1970. Null: the system's.
  std::function<std::int64_t()> wall_clock;
  /// Takes one line when files are unwise, were read again, or cannot be used any more. On any thread. Null: unheard.
  std::function<void(const std::string&)> log;
};

class TlsProvider final : public protocol::SecurityProvider {
 public:
  /// Files are looked at again with the first handshake after so long.
  static constexpr Duration kCheckInterval = 1s;

  /// Null when the files cannot be used; one line in `error` names the file and the cause.
  static std::unique_ptr<TlsProvider> make(TlsConfig config, std::string& error);

  std::unique_ptr<protocol::Handshake> connect(const Address& server, ByteView parameters, Time now) override;
  std::unique_ptr<protocol::Handshake> accept(const Address& client, ByteView parameters, Time now) override;

  /// What new handshakes begin with.
  std::shared_ptr<const Credentials> credentials() const;

 private:
  /// Inode, size, and time of the last change of anything, mode and name included. Zeros: not there.
  struct FileState {
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t changed_ns = 0;
    friend bool operator==(const FileState&, const FileState&) = default;
  };
  using FileStates = std::array<FileState, 3>;

  explicit TlsProvider(TlsConfig config) : config_(std::move(config)) {}
  FileStates look() const;
  std::shared_ptr<const Credentials> load(std::string& error) const;
  std::shared_ptr<const Credentials> credentials_at(Time now);
  std::int64_t wall_clock_zero(Time now) const;
  void log(const std::string& line) const;

  const TlsConfig config_;
  mutable std::mutex mutex_;  // of all below; seen_ belongs to the one thread that checks
  std::shared_ptr<const Credentials> credentials_;
  FileStates seen_;
  Time next_check_{};
  bool is_checking_ = false;
};

}  // namespace homa::security
