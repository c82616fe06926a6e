#include "bench/udp_blast.h"

#include <netinet/in.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "bench/socket.h"
#include "failure.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

namespace homa::tools {
namespace {

/// Frame header and DATA header of a middle packet, docs/wire.md.
constexpr std::size_t kHeader = 38;
constexpr std::size_t kMessage = 1000 * 1000;
constexpr std::size_t kMaxSegments = 64;
constexpr std::size_t kMaxTrain = 65507;
constexpr Duration kStopCheck = 50ms;

/// Segment size that the kernel reports for a coalesced buffer; the buffer's own size when it is a single datagram.
std::size_t coalesced_segment(msghdr& header, std::size_t size) {
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_UDP || item->cmsg_type != UDP_GRO) continue;
    int segment = 0;
    std::memcpy(&segment, CMSG_DATA(item), sizeof segment);
    if (segment > 0) return static_cast<std::size_t>(segment);
  }
  return std::max<std::size_t>(size, 1);
}

class UdpBlastService : public Service {
 public:
  UdpBlastService(const PeerSettings& settings, const Address& bind)
      : settings_(settings), socket_(bind_udp(bind)), buffer_(65536), message_(kMessage) {
    set_buffers(socket_, 8 << 20);
    set_option(socket_, SOL_UDP, UDP_GRO, 1, "UDP_GRO (Linux 5.0 or later)");
    set_option(socket_, SOL_SOCKET, SO_RXQ_OVFL, 1, "SO_RXQ_OVFL");
  }
  std::uint16_t port() const override { return local_address(socket_).port; }
  ServiceReport report() const override { return report_; }

  void run(const std::atomic<bool>& stop) override {
    while (!stop.load(std::memory_order_relaxed)) {
      if (receive()) continue;
      if (settings_.wait == Wait::poll) continue;
      pollfd ready{socket_.get(), POLLIN, 0};
      wait_ready(&ready, 1, kStopCheck);
    }
  }

 private:
  bool receive() {
    iovec piece{buffer_.data(), buffer_.size()};
    alignas(cmsghdr) char control[128];
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t size = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT);
    if (size < 0) return false;
    const auto total = static_cast<std::size_t>(size);
    note_drops(header);
    const std::size_t segment = coalesced_segment(header, total);
    for (std::size_t at = 0; at < total; at += segment) place(buffer_.data() + at, std::min(segment, total - at));
    const Time arrived = now();
    if (report_.busy == Duration{} && first_ == Time{}) first_ = arrived;
    report_.busy = arrived - first_;
    return true;
  }
  /// The one copy of receiving: a packet's payload into the message.
  void place(const char* packet, std::size_t size) {
    if (size <= kHeader) return;
    const std::size_t payload = size - kHeader;
    if (offset_ + payload > message_.size()) offset_ = 0;
    std::memcpy(message_.data() + offset_, packet + kHeader, payload);
    offset_ += payload;
    ++report_.messages;
    report_.bytes += payload;
  }
  void note_drops(msghdr& header) {
    for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
      if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SO_RXQ_OVFL) continue;
      std::uint32_t dropped = 0;
      std::memcpy(&dropped, CMSG_DATA(item), sizeof dropped);
      report_.dropped = dropped;
    }
  }

  PeerSettings settings_;
  FileDescriptor socket_;
  std::vector<char> buffer_;
  std::vector<char> message_;
  std::size_t offset_ = 0;
  ServiceReport report_;
  Time first_{};
};

/// Sends one train from a flat buffer. False: the socket has no room.
bool send_train(const FileDescriptor& socket, std::vector<char>& train, std::uint16_t segment) {
  iovec piece{train.data(), train.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof segment)] = {};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* item = CMSG_FIRSTHDR(&header);
  item->cmsg_level = SOL_UDP;
  item->cmsg_type = UDP_SEGMENT;
  item->cmsg_len = CMSG_LEN(sizeof segment);
  std::memcpy(CMSG_DATA(item), &segment, sizeof segment);
  if (::sendmsg(socket.get(), &header, MSG_DONTWAIT) >= 0) return true;
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == EINTR || errno == ECONNREFUSED)
    return false;
  throw Failure(fmt::format("cannot send a train of {} B in segments of {} B: {}; try a smaller --segment",
                            train.size(), segment, std::strerror(errno)));
}

}  // namespace

std::unique_ptr<Service> make_udp_blast_service(const PeerSettings& settings, const Address& bind) {
  return std::make_unique<UdpBlastService>(settings, bind);
}

BlastResult blast(const PeerSettings& settings, const Address& server, Duration duration) {
  const FileDescriptor socket = connect_udp(server);
  set_buffers(socket, 4 << 20);
  const auto segment = static_cast<std::size_t>(settings.segment);
  const std::size_t segments =
      std::clamp<std::size_t>(std::min(static_cast<std::size_t>(settings.train), kMaxTrain) / segment, 1, kMaxSegments);
  const std::size_t payload = segment - kHeader;
  const std::vector<char> message(kMessage, 'h');
  std::vector<char> train(segments * segment);
  const char header[kHeader] = {};
  std::size_t offset = 0;
  BlastResult result;
  const Time begin = now();
  while ((result.elapsed = now() - begin) < duration) {
    for (std::size_t i = 0; i < segments; ++i) {
      char* packet = train.data() + i * segment;
      std::memcpy(packet, header, kHeader);
      if (offset + payload > message.size()) offset = 0;
      std::memcpy(packet + kHeader, message.data() + offset, payload);
      offset += payload;
    }
    while (!send_train(socket, train, static_cast<std::uint16_t>(segment))) {
      if (now() - begin >= duration) return result;
      pollfd ready{socket.get(), POLLOUT, 0};
      if (settings.wait != Wait::poll) wait_ready(&ready, 1, kStopCheck);
    }
    result.packets += segments;
    result.payload += segments * payload;
  }
  return result;
}

}  // namespace homa::tools
