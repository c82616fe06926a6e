// Kernel TCP behind the bench interface: persistent connections, calls spread over them in turn.
#include "bench/tcp_peer.h"

#include <algorithm>
#include <deque>
#include <list>
#include <vector>

#include "bench/tcp_stream.h"
#include "failure.h"

namespace homa::tools {
namespace {

constexpr Duration kStopCheck = 50ms;

class TcpService : public Service {
 public:
  TcpService(const PeerSettings& settings, const Address& bind) : settings_(settings), listener_(listen_tcp(bind)) {}
  std::uint16_t port() const override { return local_address(listener_).port; }
  ServiceReport report() const override { return report_; }

  void run(const std::atomic<bool>& stop) override {
    while (!stop.load(std::memory_order_relaxed)) {
      accept_new();
      for (auto stream = streams_.begin(); stream != streams_.end();) {
        const bool alive = serve(*stream) && stream->flush();
        stream = alive ? std::next(stream) : streams_.erase(stream);
      }
      if (settings_.wait != Wait::poll) sleep();
    }
  }

 private:
  void accept_new() {
    // accept() costs a system call: a spinning server looks only now and then.
    if (settings_.wait == Wait::poll && !streams_.empty() && ++since_accept_ % 1024 != 0) return;
    while (true) {
      FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket.valid()) return;
      streams_.emplace_back(std::move(socket), settings_.congestion);
    }
  }
  bool serve(TcpStream& stream) {
    const std::uint64_t before = stream.received();
    const bool alive = stream.receive([&](std::uint64_t bytes) {
      ++report_.messages;
      stream.queue(settings_.response_to(bytes));
    });
    const std::uint64_t got = stream.received() - before;
    if (got > 0) {
      const Time at = now();
      if (report_.bytes == 0) first_ = at;
      report_.bytes += got;
      report_.busy = at - first_;
    }
    return alive;
  }
  void sleep() {
    ready_.clear();
    ready_.push_back({listener_.get(), POLLIN, 0});
    for (const TcpStream& stream : streams_) {
      ready_.push_back({stream.descriptor(), static_cast<short>(POLLIN | (stream.wants_to_send() ? POLLOUT : 0)), 0});
    }
    wait_ready(ready_.data(), ready_.size(), kStopCheck);
  }

  PeerSettings settings_;
  FileDescriptor listener_;
  std::list<TcpStream> streams_;
  std::vector<pollfd> ready_;
  ServiceReport report_;
  Time first_{};
  unsigned since_accept_ = 0;
};

class TcpPeer : public Peer {
 public:
  TcpPeer(const PeerSettings& settings, const Address& server, unsigned connections) : settings_(settings) {
    for (unsigned i = 0; i < std::max(connections, 1u); ++i) {
      lines_.push_back({TcpStream(connect_tcp(server), settings.congestion), {}});
    }
  }
  bool start(std::uint32_t slot, std::uint64_t bytes) override {
    // The shortest line, so that one large message holds up as few others as possible.
    Line* best = &lines_[next_++ % lines_.size()];
    for (Line& line : lines_) {
      if (line.waiting.size() < best->waiting.size()) best = &line;
    }
    best->stream.queue(bytes);
    best->waiting.push_back(slot);
    return true;
  }
  void wait(Duration most) override {
    const Time until = now() + most;
    finished_ = false;
    while (true) {
      for (Line& line : lines_) turn(line);
      if (finished_ || now() >= until) return;
      if (settings_.wait != Wait::poll) sleep(until - now());
    }
  }

 private:
  struct Line {
    TcpStream stream;
    std::deque<std::uint32_t> waiting;  ///< calls in the order in which their responses come
  };
  void turn(Line& line) {
    const bool alive = line.stream.flush() && line.stream.receive([&](std::uint64_t) {
      const std::uint32_t slot = line.waiting.front();
      line.waiting.pop_front();
      finished_ = true;
      if (done_) done_(slot, true);
    });
    if (!alive) throw Failure("the server closed the connection; see what it printed");
  }
  void sleep(Duration most) {
    ready_.clear();
    for (const Line& line : lines_) {
      ready_.push_back(
          {line.stream.descriptor(), static_cast<short>(POLLIN | (line.stream.wants_to_send() ? POLLOUT : 0)), 0});
    }
    wait_ready(ready_.data(), ready_.size(), most);
  }

  PeerSettings settings_;
  std::vector<Line> lines_;
  std::vector<pollfd> ready_;
  std::size_t next_ = 0;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Service> make_tcp_service(const PeerSettings& settings, const Address& bind) {
  return std::make_unique<TcpService>(settings, bind);
}

std::unique_ptr<Peer> make_tcp_peer(const PeerSettings& settings, const Address& server, unsigned connections) {
  return std::make_unique<TcpPeer>(settings, server, connections);
}

}  // namespace homa::tools
