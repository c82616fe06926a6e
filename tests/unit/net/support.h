// What the tests of src/net share: loopback addresses, patterned bytes, receiving with a deadline. Nobody sleeps.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <string>
#include <vector>

#include "net/clock.h"
#include "net/udp_socket.h"

namespace homa::net::test {

inline constexpr HostAddress kLoopback4 = HostAddress::v4(127, 0, 0, 1);
inline constexpr HostAddress kAny4 = HostAddress::v4(0, 0, 0, 0);
inline constexpr HostAddress kLoopback6{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 0};
inline constexpr HostAddress kAny6{};

inline bool have_ipv6() {
  return static_cast<bool>(UdpSocket::open({kLoopback6, 0}));
}

/// Opens or fails the test (and then aborts it by an exception, which only tests do).
inline UdpSocket must_open(const Address& address, const UdpOptions& options = {}) {
  Result<UdpSocket> socket = UdpSocket::open(address, options);
  if (!socket) throw std::runtime_error(socket.error().describe());
  return std::move(*socket);
}

/// Bytes in which every place looks different, so that a swapped or repeated segment shows.
inline std::vector<std::byte> pattern(std::size_t size, std::uint64_t seed = 1) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(mix64(seed + i / 8) >> (8 * (i % 8)));
  return bytes;
}

inline ByteView view(const std::vector<std::byte>& bytes) {
  return {bytes.data(), bytes.size()};
}

inline std::vector<std::byte> copy(ByteView bytes) {
  return {bytes.data, bytes.data + bytes.size};
}

/// Cuts as send_train does.
inline std::vector<std::vector<std::byte>> cut(const std::vector<std::byte>& bytes, std::size_t segment_size) {
  std::vector<std::vector<std::byte>> pieces;
  for (std::size_t at = 0; at < bytes.size(); at += segment_size) {
    pieces.push_back(copy({bytes.data() + at, std::min(segment_size, bytes.size() - at)}));
  }
  return pieces;
}

/// Waits for an event on `fd`; false at the deadline.
inline bool wait_for(int fd, short events, Duration patience = 5s) {
  pollfd entry{fd, events, 0};
  return poll(&entry, 1, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(patience).count())) > 0;
}

/// One datagram as a value.
struct Got {
  Address from;
  HostAddress to;
  std::uint8_t tos = 0;
  std::vector<std::byte> bytes;
};

/// Receives until `count` datagrams came or `patience` passed without any.
inline std::vector<Got> receive_all(UdpSocket& socket, std::size_t count, Duration patience = 5s) {
  std::vector<Got> got;
  ReceiveBatch batch;
  while (got.size() < count && wait_for(socket.fd(), POLLIN, patience)) {
    if (socket.receive(batch) == ReceiveStatus::fatal) break;
    for (const Received& entry : batch) {
      for (std::size_t i = 0; i < entry.segment_count(); ++i) {
        got.push_back({entry.from, entry.to, entry.tos, copy(entry.segment(i))});
      }
    }
  }
  return got;
}

/// Receives what is there now.
inline std::vector<Got> drain(UdpSocket& socket) {
  return receive_all(socket, SIZE_MAX, 0s);
}

inline std::vector<std::vector<std::byte>> bytes_of(const std::vector<Got>& got) {
  std::vector<std::vector<std::byte>> result;
  for (const Got& one : got) result.push_back(one.bytes);
  return result;
}

}  // namespace homa::net::test
