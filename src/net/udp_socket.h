// A UDP socket as the datagram driver needs it: whole trains in one call, coalesced receive, source and destination of
// every datagram, TOS both ways, ICMP errors, drop counters. Every failure is a value.
//
// Thread rule: one thread uses a socket (fd() may be polled from anywhere). Ownership rule: the socket owns its
// descriptor; bytes given to a send are the caller's again when the call returns. Sends and receives neither block nor
// sleep nor allocate.
//
// Event rule: with edge- or level-triggered polling, EPOLLERR means that read_errors() has something to give; until it
// is emptied, poll() returns at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/address.h"
#include "base/bytes.h"
#include "net/capabilities.h"
#include "net/errors.h"
#include "net/receive_batch.h"
#include "net/result.h"

namespace homa::net {

struct UdpOptions {
  bool v6_only = false;     ///< `::` takes IPv4 peers too unless this is set
  bool reuse_port = false;  ///< member of a group of shards; take a PortGuard first
  bool gso = true;          ///< false forces single datagrams
  bool gro = true;
  std::size_t receive_buffer = 8 << 20;  ///< asked; see Capabilities::buffers for what came of it
  std::size_t send_buffer = 4 << 20;
  int busy_poll_us = 0;  ///< SO_BUSY_POLL; 0 leaves the system's default
};

/// One datagram of send_batch.
struct Outgoing {
  ByteView bytes;
  Address to;
  HostAddress from;      ///< all zero: the kernel chooses
  std::uint8_t tos = 0;  ///< DSCP and ECN bits, sent as they are
};

/// An error that the network or this host reported about an earlier datagram. Reports can be forged: hints only.
struct PeerError {
  enum class Kind : std::uint8_t {
    port_unreachable,  ///< nobody listens there
    host_unreachable,  ///< host, network or path down, or a filter rejects
    too_big,           ///< `mtu` is what fits, IP header included; 0 when the router did not say
    other,
  };
  Address peer;  ///< where the datagram went; port 0 when the report does not say
  Kind kind = Kind::other;
  std::uint32_t mtu = 0;
  bool local = false;  ///< this host's own stack, not a router
  int error = 0;       ///< as errno
};

struct UdpCounters {
  std::uint64_t segmented_sends = 0;    ///< calls with GSO that passed
  std::uint64_t single_sends = 0;       ///< datagrams sent without GSO
  std::uint64_t gso_refused = 0;        ///< GSO switched off for this socket by an error (0 or 1)
  std::uint64_t pending_errors = 0;     ///< stored ICMP errors that a send or receive met and got past
  std::uint64_t truncated = 0;          ///< received buffers dropped because they did not fit
  std::uint64_t control_truncated = 0;  ///< dropped because their control data did not fit
  /// Buffers that the kernel dropped because our receive buffer was full. A coalesced train counts once, however many
  /// datagrams it held, so this says that something was lost, not how much.
  std::uint64_t queue_drops = 0;
};

class UdpSocket {
 public:
  static constexpr std::size_t kMaxSegments = 64;       ///< what every kernel with GSO takes in one send
  static constexpr std::size_t kMaxTrainBytes = 65507;  ///< largest UDP payload over IPv4

  /// Binds. Host v4(0,0,0,0) or an IPv4 address: an IPv4 socket. `::`: IPv6, dual-stack unless v6_only (falls back to
  /// IPv4 where the kernel has no IPv6). Port 0: the kernel chooses. fe80:: without scope is refused.
  static Result<UdpSocket> open(const Address& bind, const UdpOptions& options = {});

  UdpSocket(UdpSocket&& other) noexcept;
  UdpSocket& operator=(UdpSocket&& other) noexcept;
  ~UdpSocket();

  int fd() const { return fd_; }
  /// As bound, with the real port.
  const Address& local_address() const { return local_; }
  const Capabilities& capabilities() const { return capabilities_; }
  const BufferSizes& buffer_sizes() const { return capabilities_.buffers; }
  const UdpCounters& counters() const { return counters_; }
  /// errno that switched GSO off for this socket, or 0.
  int gso_error() const { return gso_error_; }
  /// errno of the last fatal receive.
  int last_error() const { return last_error_; }

  /// Sends `flat` as datagrams of `segment_size` bytes (the last may be shorter) to one peer, in order. One system call
  /// for up to 64 segments and 65507 bytes where GSO works, else sendmmsg; longer input is cut into several calls.
  /// `from` all zero: the kernel chooses the source. Precondition: segment_size > 0. Empty `flat` sends nothing.
  SendResult send_train(ByteView flat, std::size_t segment_size, const Address& to, const HostAddress& from = {},
                        std::uint8_t tos = 0);

  /// Sends datagrams to any peers, in order, stopping at the first that the kernel does not take: items[sent] is then
  /// the one that `status` is about, and the caller decides whether to skip or to repeat it.
  SendResult send_batch(const Outgoing* items, std::size_t count);

  /// Fills `batch` with what is there, in one system call. Forgets what `batch` held before.
  [[nodiscard]] ReceiveStatus receive(ReceiveBatch& batch, std::size_t most = ~std::size_t{0});

  /// Takes up to `max` reports from the error queue; fewer than `max` means that it is empty.
  [[nodiscard]] std::size_t read_errors(PeerError* out, std::size_t max);

  /// Bytes (the kernel's count, about twice the payload of small datagrams) that have not left this host's queues.
  std::size_t backlog_bytes() const;

  /// Brings counters().queue_drops up to date without waiting for the next datagram. One system call.
  void refresh_queue_drops();

 private:
  struct Envelope;  // destination, control data: what a sendmsg needs besides the bytes
  /// After so many sends in a row that asked for another TOS than the socket's own, the socket's own changes.
  static constexpr int kSendsBeforeNewTos = 16;
  UdpSocket(int fd, bool ipv6) : fd_(fd), ipv6_(ipv6) {}

  void enable_features(const UdpOptions& options);
  void size_buffers(const UdpOptions& options);
  void settle_tos(std::uint8_t tos);
  HostAddress source_to_name(const HostAddress& from) const;
  SendResult send_segmented(ByteView part, std::size_t segment_size, Envelope& envelope);
  SendResult send_single(ByteView part, std::size_t segment_size, Envelope& envelope);
  SendResult send_messages(struct mmsghdr* messages, std::size_t count);
  SendResult check_refused_gso(ByteView part, std::size_t segment_size, Envelope& envelope, int error);
  bool accept(ReceiveBatch& batch, std::size_t slot, Received& out);
  void count_drops(std::uint32_t total);

  int fd_ = -1;
  bool ipv6_ = false;
  int last_error_ = 0;
  int gso_error_ = 0;
  std::uint32_t last_drop_total_ = 0;
  bool one_address_ = false;  // bound to one: every datagram came to it, and leaves from it
  std::uint8_t own_tos_ = 0;  // goes without control data
  int other_tos_in_row_ = 0;
  Address local_;
  Capabilities capabilities_;
  UdpCounters counters_;
};

}  // namespace homa::net
