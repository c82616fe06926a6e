// libhoma behind the bench interface, through its public API only: what a user of the library gets.
#include "bench/homa_peer.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>
#include <vector>

#include "api_options.h"
#include "bench/socket.h"
#include "failure.h"
#include "homa/client.h"
#include "homa/server.h"

namespace homa::tools {
namespace {

constexpr Duration kStopCheck = 50ms;
constexpr std::uint64_t kMaxPattern = std::uint64_t{16} << 30;

WaitMode wait_mode(Wait wait) {
  return wait_mode_of(to_text(wait));
}

/// What requests and responses consist of. Sent without copying, so it never moves: address space for the longest
/// message, of which only what is used becomes memory.
Bytes pattern(std::uint64_t bytes) {
  static const std::byte* const memory = [] {
    void* mapped = ::mmap(nullptr, kMaxPattern, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw Failure("no address space for the messages of the bench");
    return static_cast<const std::byte*>(mapped);
  }();
  if (bytes > kMaxPattern) throw usage_failure("homa bench sends messages of at most 16 GiB");
  return Bytes(memory, bytes);
}

class HomaService : public Service {
 public:
  HomaService(const PeerSettings& settings, const Address& bind) : settings_(settings), server_(start(bind)) {}
  std::uint16_t port() const override { return server_.address().port; }
  ServiceReport report() const override {
    ServiceReport report;
    report.messages = messages_;
    report.bytes = bytes_;
    return report;
  }
  void run(const std::atomic<bool>& stop) override {
    const bool driven = settings_.shards == 1;
    while (!stop.load(std::memory_order_relaxed)) {
      if (driven) {
        server_.poll(kStopCheck);
      } else {
        std::this_thread::sleep_for(kStopCheck);
      }
    }
    server_.stop();
  }

 private:
  Server start(const Address& bind) {
    ServerOptions options(Security::clear());
    options.bind = bind;
    options.wait = wait_mode(settings_.wait);
    options.shards = settings_.shards;
    options.max_message_length = settings_.max_message;
    options.receive_memory = std::max(options.receive_memory, settings_.max_message);
    // One shard runs on the service's own thread, pinned like the other transports' are.
    options.drive = settings_.shards == 1 ? Drive::caller : Drive::own_threads;
    auto server = Server::start(options, [this](Request request) { answer(std::move(request)); });
    if (!server) throw to_failure(server.error(), "cannot start the homa server");
    return std::move(*server);
  }
  void answer(Request request) {
    messages_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(request.message().size(), std::memory_order_relaxed);
    if (settings_.response_same) {
      request.reply(std::move(request.message()));
      return;
    }
    const std::array<Bytes, 1> piece = {pattern(settings_.response_bytes)};
    request.reply(Gather{piece, [] {}});
  }

  PeerSettings settings_;
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> bytes_{0};
  Server server_;  // last: its handler uses the others
};

class HomaPeer : public Peer {
 public:
  HomaPeer(const PeerSettings& settings, const Address& server) : server_(server), client_(open(settings)) {}
  bool start(std::uint32_t slot, std::uint64_t bytes) override {
    const auto finished = [this, slot](Result<Message> response) {
      finished_ = true;
      if (done_) done_(slot, response.has_value());
    };
    CallOptions options;
    if (bytes <= kCopied) return started(client_.call(server_, pattern(bytes), options, finished));
    const std::array<Bytes, 1> piece = {pattern(bytes)};
    return started(client_.call(server_, Gather{piece, [] {}}, options, finished));
  }
  void wait(Duration most) override {
    finished_ = false;
    const Time until = now() + most;
    do {
      client_.poll(std::max<Duration>(until - now(), Duration{}));
    } while (!finished_ && now() < until);
  }

 private:
  /// Below this a copy is cheaper than keeping a reference.
  static constexpr std::uint64_t kCopied = 4096;

  static Client open(const PeerSettings& settings) {
    ClientOptions options(Security::clear());
    options.drive = Drive::caller;
    options.wait = wait_mode(settings.wait);
    options.max_message_length = settings.max_message;
    options.receive_memory = std::max(options.receive_memory, settings.max_message);
    auto client = Client::open(options);
    if (!client) throw to_failure(client.error(), "cannot open a homa client");
    return std::move(*client);
  }
  static bool started(const Result<CallToken>& token) {
    if (token) return true;
    if (token.error() == ErrorCode::would_block) return false;
    throw to_failure(token.error(), "homa call");
  }

  Address server_;
  bool finished_ = false;
  Client client_;  // last: its callbacks use the others
};

}  // namespace

std::unique_ptr<Service> make_homa_service(const PeerSettings& settings, const Address& bind) {
  return std::make_unique<HomaService>(settings, bind);
}

std::unique_ptr<Peer> make_homa_peer(const PeerSettings& settings, const Address& server, unsigned) {
  return std::make_unique<HomaPeer>(settings, server);
}

}  // namespace homa::tools
