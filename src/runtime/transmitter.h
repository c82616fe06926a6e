// The sending half of a shard: asks the protocol for trains and hands them to the socket.
//
// A train of several segments goes by itself (one segmented send); small single ones are collected and go together
// (sendmmsg). What the socket does not take now is kept, flattened, and goes first next time; until then the protocol
// is not asked for more, so that it decides what is shortest at the last moment.
//
// Threads: the shard's. Ownership: refers to the socket, endpoint and counters, which outlive it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "homa/options.h"
#include "net/udp_socket.h"
#include "protocol/endpoint.h"
#include "runtime/backlog_gauge.h"
#include "runtime/runtime_counters.h"

namespace homa::runtime {

class Transmitter {
 public:
  Transmitter(net::UdpSocket& socket, protocol::Endpoint& endpoint, const PriorityMap& priorities,
              RuntimeCounters& counters);

  /// Sends what may be sent, up to a bound that keeps receiving alive. True when anything left.
  bool pump(Time now);
  /// The socket buffer is full: pump() again when the socket is writable.
  bool wants_writable() const { return wait_ == Wait::writable; }
  /// Nothing can be sent now, whatever waits in the endpoint.
  bool is_blocked() const { return wait_ != Wait::none; }
  /// When to pump() again because a queue below the socket was full, which nobody announces; else kNever.
  Time retry_at() const { return wait_ == Wait::time ? retry_at_ : kNever; }

 private:
  /// Bounds one turn. 16 trains of 64 KB are 1 MB: about 1 ms at 10 Gbit/s.
  static constexpr int kTrainsPerTurn = 16;
  static constexpr std::size_t kBatch = 32;
  /// A single segment up to this size waits for company; it fits the first packet size, so it is hardly ever too big.
  static constexpr std::size_t kBatchedBytes = 1500;
  static constexpr Duration kNoBuffersPause = 200us;
  /// How often the backlog is looked at (one system call).
  static constexpr Duration kBacklogInterval = 100us;

  enum class Wait : std::uint8_t { none, writable, time };
  struct Kept {  ///< what is left of a train: flat_[begin, end)
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t segment_size = 0;
    Address to;
    HostAddress from;
    std::uint8_t tos = 0;
  };

  std::uint8_t tos_of(const protocol::Train& train) const;
  bool batch_has_room() const { return batch_count_ < kBatch; }
  void add_to_batch(const protocol::Train& train);
  bool flush_batch(Time now);
  bool send_kept(Time now, bool fresh);
  bool must_wait(net::SendStatus status, Time now);
  void count_failure(net::SendStatus status);
  void note_sent(std::uint64_t bytes) {
    sent_bytes_ += bytes;
    gauge_.sent(bytes);
  }
  void sample_backlog(Time now);

  net::UdpSocket& socket_;
  protocol::Endpoint& endpoint_;
  RuntimeCounters& counters_;
  std::array<std::uint8_t, kPriorityLevels> dscp_;

  Wait wait_ = Wait::none;
  Time retry_at_ = kNever;
  std::unique_ptr<protocol::Train> train_;
  std::unique_ptr<std::byte[]> flat_;
  Kept kept_;
  std::unique_ptr<std::byte[]> batch_bytes_;
  std::size_t batch_used_ = 0;
  std::array<net::Outgoing, kBatch> batch_;
  std::size_t batch_count_ = 0;
  std::size_t batch_sent_ = 0;

  std::uint64_t sent_bytes_ = 0;
  BacklogGauge gauge_;
  Time last_sample_{};
};

}  // namespace homa::runtime
