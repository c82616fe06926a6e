// Small datagrams there and back: the least that a round trip over UDP costs here.
#include "bench/udp_echo_peer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "bench/socket.h"
#include "failure.h"

namespace homa::tools {
namespace {

constexpr Duration kStopCheck = 50ms;
constexpr Duration kLost = 1s;
constexpr std::size_t kMaxDatagram = 1452;

class UdpEchoService : public Service {
 public:
  UdpEchoService(const PeerSettings& settings, const Address& bind) : settings_(settings), socket_(bind_udp(bind)) {
    set_buffers(socket_, 4 << 20);
  }
  std::uint16_t port() const override { return local_address(socket_).port; }
  ServiceReport report() const override { return report_; }

  void run(const std::atomic<bool>& stop) override {
    std::array<char, 65536> buffer;
    SocketAddress from;
    while (!stop.load(std::memory_order_relaxed)) {
      from.length = sizeof from.storage;
      const ssize_t size =
          ::recvfrom(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT, from.get(), &from.length);
      if (size < 0) {
        if (settings_.wait != Wait::poll) sleep();
        continue;
      }
      ++report_.messages;
      report_.bytes += static_cast<std::uint64_t>(size);
      const auto answer =
          std::min<std::uint64_t>(settings_.response_to(static_cast<std::uint64_t>(size)), kMaxDatagram);
      ::sendto(socket_.get(), buffer.data(), static_cast<std::size_t>(answer), MSG_DONTWAIT, from.get(), from.length);
    }
  }

 private:
  void sleep() {
    pollfd ready{socket_.get(), POLLIN, 0};
    wait_ready(&ready, 1, kStopCheck);
  }
  PeerSettings settings_;
  FileDescriptor socket_;
  ServiceReport report_;
};

/// The first four bytes name the slot, where both directions have room for them; otherwise one call at a time.
class UdpEchoPeer : public Peer {
 public:
  UdpEchoPeer(const PeerSettings& settings, const Address& server) : settings_(settings), socket_(connect_udp(server)) {
    set_buffers(socket_, 4 << 20);
    named_ = settings.response_same || settings.response_bytes >= sizeof(std::uint32_t);
  }
  bool start(std::uint32_t slot, std::uint64_t bytes) override {
    if (bytes > kMaxDatagram) {
      throw usage_failure(fmt::format("udp-echo carries one datagram: at most {} bytes, not {}", kMaxDatagram, bytes));
    }
    if ((!named_ || bytes < sizeof slot) && !sent_.empty()) return false;
    std::memcpy(buffer_.data(), &slot, sizeof slot);
    if (::send(socket_.get(), buffer_.data(), static_cast<std::size_t>(bytes), MSG_DONTWAIT) < 0) return false;
    sent_.push_back({slot, now()});
    return true;
  }
  void wait(Duration most) override {
    const Time until = now() + most;
    while (true) {
      if (receive() || expire()) return;
      const Time at = now();
      if (at >= until) return;
      if (settings_.wait == Wait::poll) continue;
      pollfd ready{socket_.get(), POLLIN, 0};
      wait_ready(&ready, 1, until - at);
    }
  }

 private:
  struct Sent {
    std::uint32_t slot;
    Time at;
  };
  bool receive() {
    const ssize_t size = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size < 0) return false;
    auto call = sent_.begin();
    if (static_cast<std::size_t>(size) >= sizeof(std::uint32_t) && sent_.size() > 1) {
      std::uint32_t slot = 0;
      std::memcpy(&slot, buffer_.data(), sizeof slot);
      call = std::find_if(sent_.begin(), sent_.end(), [&](const Sent& sent) { return sent.slot == slot; });
    }
    if (call == sent_.end()) return false;  // given up before
    finish(call, true);
    return true;
  }
  bool expire() {
    if (sent_.empty() || now() - sent_.front().at < kLost) return false;
    finish(sent_.begin(), false);
    return true;
  }
  void finish(std::vector<Sent>::iterator call, bool ok) {
    const std::uint32_t slot = call->slot;
    sent_.erase(call);
    if (done_) done_(slot, ok);
  }

  PeerSettings settings_;
  FileDescriptor socket_;
  std::array<char, 65536> buffer_{};
  std::vector<Sent> sent_;
  bool named_ = false;
};

}  // namespace

std::unique_ptr<Service> make_udp_echo_service(const PeerSettings& settings, const Address& bind) {
  return std::make_unique<UdpEchoService>(settings, bind);
}

std::unique_ptr<Peer> make_udp_echo_peer(const PeerSettings& settings, const Address& server, unsigned) {
  return std::make_unique<UdpEchoPeer>(settings, server);
}

}  // namespace homa::tools
