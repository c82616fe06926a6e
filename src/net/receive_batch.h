// Preallocated room for one call of UdpSocket::receive, and what it brought.
//
// Thread rule: one thread at a time. Ownership rule: the batch owns the buffers; every view that it gives stays valid
// until the next receive into it. Nothing is allocated after construction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/address.h"
#include "base/bytes.h"

namespace homa::net {

/// One buffer of received bytes: one datagram, or several equal ones that the kernel coalesced (UDP GRO). All but the
/// last segment have `segment_size` bytes.
struct Received {
  Address from;          ///< canonical: scope only if link-local, IPv4 in mapped form
  HostAddress to;        ///< what the sender aimed at: answer from here. All zero: not told, or multicast
  std::uint8_t tos = 0;  ///< DSCP and ECN; the kernel coalesces only datagrams that agree in it
  MutableByteView bytes;
  std::size_t segment_size = 0;  ///< == bytes.size unless coalesced

  std::size_t segment_count() const {
    return bytes.size <= segment_size ? 1 : (bytes.size + segment_size - 1) / segment_size;
  }
  /// Precondition: i < segment_count().
  MutableByteView segment(std::size_t i) const {
    const std::size_t begin = i * segment_size;
    return {bytes.data + begin, std::min(segment_size, bytes.size - begin)};
  }
};

class ReceiveBatch {
 public:
  /// A coalesced buffer is never larger than this; smaller buffers lose what does not fit.
  static constexpr std::size_t kFullBuffer = 65536;

  explicit ReceiveBatch(std::size_t buffers = 8, std::size_t buffer_size = kFullBuffer);
  ReceiveBatch(ReceiveBatch&&) noexcept;
  ReceiveBatch& operator=(ReceiveBatch&&) noexcept;
  ~ReceiveBatch();

  std::size_t capacity() const;
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// As many buffers came as were asked for: there may be more.
  bool full() const { return kernel_filled_ == asked_; }
  const Received* begin() const { return received_.get(); }
  const Received* end() const { return received_.get() + size_; }
  const Received& operator[](std::size_t i) const { return received_[i]; }

 private:
  friend class UdpSocket;
  struct Slots;  // message headers, control and buffers, as recvmmsg wants them
  std::unique_ptr<Slots> slots_;
  std::unique_ptr<Received[]> received_;
  std::size_t size_ = 0;           // entries that can be used
  std::size_t asked_ = 0;          // slots that the last call offered
  std::size_t kernel_filled_ = 0;  // slots that the last call used, so that only these are made ready again
};

}  // namespace homa::net
