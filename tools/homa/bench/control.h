// How the two ends of `homa bench` agree: one JSON object per line over a TCP connection of their own, so that what is
// measured carries nothing else. One connection is one run.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "bench/cpu_usage.h"
#include "bench/peer.h"
#include "bench/socket.h"

namespace homa::tools {

/// A blocking exchange of lines.
class ControlLine {
 public:
  explicit ControlLine(FileDescriptor socket) : socket_(std::move(socket)) {}
  void send(const nlohmann::json& message);
  /// Nothing when the peer has gone. Throws Failure on what is no JSON, or after `most`.
  std::optional<nlohmann::json> receive(Duration most);
  const FileDescriptor& socket() const { return socket_; }

 private:
  FileDescriptor socket_;
  std::string buffer_;
};

/// What the server answers at the end of a run.
struct FarEnd {
  ServiceReport report;
  CpuTime cpu;
  std::optional<int> core;
};

/// The client's end of one run: settings out, port of the service back; later stop out, figures back.
class RemoteService {
 public:
  RemoteService(const Address& server, const PeerSettings& settings);
  /// Where the service listens.
  const Address& address() const { return address_; }
  /// Starts the far end's clocks.
  void begin();
  FarEnd finish();

 private:
  nlohmann::json exchange(const nlohmann::json& request);
  ControlLine line_;
  Address address_;
};

/// The server: takes runs one after the other, on `core` if given, until `stop`. `say` gets a line per run.
void serve_runs(const FileDescriptor& listener, std::optional<int> core, const std::atomic<bool>& stop,
                const std::function<void(const std::string&)>& say);

}  // namespace homa::tools
