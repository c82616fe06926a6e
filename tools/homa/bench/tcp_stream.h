// Length-prefixed messages over one TCP connection: the fair form of TCP for comparison with messages.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "bench/socket.h"

namespace homa::tools {

class TcpStream {
 public:
  /// `socket` is connected and non-blocking. Sets TCP_NODELAY and the congestion control.
  TcpStream(FileDescriptor socket, const std::string& congestion);

  /// Puts a message of `bytes` into the queue; messages queued together leave in one system call.
  void queue(std::uint64_t bytes);
  /// Sends what the socket takes. False: the connection is broken.
  bool flush();
  /// Reads what is there; calls `message(bytes)` for each complete message. False: the connection has ended.
  bool receive(const std::function<void(std::uint64_t bytes)>& message);

  bool wants_to_send() const { return !queue_.empty(); }
  int descriptor() const { return socket_.get(); }
  std::uint64_t received() const { return received_; }

 private:
  struct Outgoing {
    std::uint64_t length = 0;
    std::uint64_t sent = 0;  ///< of prefix and payload together
  };
  void consume(const char* data, std::size_t size, const std::function<void(std::uint64_t)>& message);

  FileDescriptor socket_;
  std::deque<Outgoing> queue_;
  std::vector<char> buffer_;  ///< payload lands here, round and round: as much memory as a message has
  std::size_t offset_ = 0;
  // the message that is arriving
  char prefix_[8]{};
  std::size_t prefix_bytes_ = 0;
  std::uint64_t length_ = 0;
  std::uint64_t remaining_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace homa::tools
