#include "bench/tcp_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "failure.h"

namespace homa::tools {
namespace {

constexpr std::size_t kPrefix = 8;
constexpr std::size_t kReadBytes = 256 * 1024;
constexpr std::size_t kBufferBytes = 4 * kReadBytes;
constexpr std::size_t kMaxPieces = 64;

/// What all messages consist of.
const std::vector<char>& pattern() {
  static const std::vector<char> bytes(1024 * 1024, 'h');
  return bytes;
}

}  // namespace

TcpStream::TcpStream(FileDescriptor socket, const std::string& congestion)
    : socket_(std::move(socket)), buffer_(kBufferBytes) {
  set_option(socket_, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
  if (!congestion.empty() && ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_CONGESTION, congestion.data(),
                                          static_cast<socklen_t>(congestion.size())) != 0) {
    throw usage_failure(fmt::format("congestion control '{}': {}; see sysctl net.ipv4.tcp_allowed_congestion_control",
                                    congestion, std::strerror(errno)));
  }
}

void TcpStream::queue(std::uint64_t bytes) {
  queue_.push_back({bytes, 0});
}

bool TcpStream::flush() {
  while (!queue_.empty()) {
    std::array<iovec, kMaxPieces> pieces;
    std::array<std::uint64_t, kMaxPieces> prefixes;
    std::size_t count = 0;
    for (std::size_t i = 0; i < queue_.size() && count + 2 <= kMaxPieces; ++i) {
      const Outgoing& message = queue_[i];
      prefixes[count] = message.length;
      if (message.sent < kPrefix) {
        pieces[count] = {reinterpret_cast<char*>(&prefixes[count]) + message.sent, kPrefix - message.sent};
        ++count;
      }
      const std::uint64_t payload = message.length - (message.sent < kPrefix ? 0 : message.sent - kPrefix);
      const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(payload, pattern().size()));
      if (piece > 0) pieces[count++] = {const_cast<char*>(pattern().data()), piece};
      if (piece < payload) break;  // the rest of it comes before the next message
    }
    msghdr header{};
    header.msg_iov = pieces.data();
    header.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    for (auto left = static_cast<std::uint64_t>(sent); left > 0;) {
      Outgoing& message = queue_.front();
      const std::uint64_t step = std::min(left, kPrefix + message.length - message.sent);
      message.sent += step;
      left -= step;
      if (message.sent == kPrefix + message.length) queue_.pop_front();
    }
  }
  return true;
}

void TcpStream::consume(const char* data, std::size_t size, const std::function<void(std::uint64_t)>& message) {
  while (size > 0) {
    if (prefix_bytes_ < kPrefix) {
      const std::size_t step = std::min(size, kPrefix - prefix_bytes_);
      std::memcpy(prefix_ + prefix_bytes_, data, step);
      prefix_bytes_ += step;
      data += step;
      size -= step;
      if (prefix_bytes_ < kPrefix) return;
      std::memcpy(&length_, prefix_, sizeof length_);
      remaining_ = length_;
    }
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(size, remaining_));
    data += step;
    size -= step;
    remaining_ -= step;
    if (remaining_ == 0) {
      prefix_bytes_ = 0;
      message(length_);
    }
  }
}

bool TcpStream::receive(const std::function<void(std::uint64_t)>& message) {
  // A few rounds, so that a fast sender cannot keep us here.
  for (int round = 0; round < 4; ++round) {
    char* const to = buffer_.data() + offset_;
    const ssize_t size = ::recv(socket_.get(), to, kReadBytes, MSG_DONTWAIT);
    if (size == 0) return false;
    if (size < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    received_ += static_cast<std::uint64_t>(size);
    consume(to, static_cast<std::size_t>(size), message);
    offset_ += static_cast<std::size_t>(size);
    if (offset_ + kReadBytes > buffer_.size()) offset_ = 0;
    if (static_cast<std::size_t>(size) < kReadBytes) return true;
  }
  return true;
}

}  // namespace homa::tools
