// What this socket on this kernel can do, found by trying, not by version numbers.
//
// Thread rule: a value. The socket's own copy changes when the kernel changes its mind (GSO switched off by an error).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace homa::net {

/// How long trains are cut into datagrams.
enum class GsoState : std::uint8_t {
  usable,
  forced_off,     ///< the options said so
  not_in_kernel,  ///< before Linux 4.18
  refused,        ///< a segmented send failed with EIO or EINVAL where single datagrams passed
};

/// One buffer of the kernel. All sizes are the kernel's own count (truesize: payload, headers and bookkeeping), which
/// setsockopt doubles.
struct BufferSize {
  std::size_t asked = 0;      ///< by the options, doubled as the kernel does
  std::size_t effective = 0;  ///< what we got
  std::size_t limit = 0;      ///< net.core.rmem_max or wmem_max, not doubled; 0 when unreadable
  bool sufficient() const { return effective >= asked; }
};

struct BufferSizes {
  BufferSize receive;
  BufferSize send;
};

struct Capabilities {
  bool ipv6 = false;        ///< the socket is AF_INET6
  bool dual_stack = false;  ///< and reaches IPv4 peers too
  GsoState gso = GsoState::not_in_kernel;
  bool gro = false;             ///< coalesced receive
  bool packet_info = false;     ///< destination of each datagram known, source of each reply chosen
  bool drop_counter = false;    ///< SO_RXQ_OVFL
  bool error_queue = false;     ///< ICMP errors are queued for read_errors()
  bool tos = false;             ///< received TOS known
  bool path_mtu_probe = false;  ///< DF set, the kernel's path MTU ignored
  bool busy_poll = false;
  BufferSizes buffers;
  /// Several lines "name: value", for `homa doctor` and logs.
  std::string to_text() const;
};

std::string to_text(GsoState state);

/// What to tell the administrator when a buffer is smaller than asked, with the sysctl to set; empty when all is well.
std::string buffer_advice(const BufferSizes& sizes);

/// About how many payload bytes a receive buffer of `effective` bytes holds when they come as single datagrams of
/// `datagram_size`. An estimate: the kernel charges each datagram its own bookkeeping and rounding, and a
/// driver that gives every packet a page of its own charges up to 4096 for a small one.
std::size_t payload_capacity(std::size_t effective, std::size_t datagram_size);

}  // namespace homa::net
