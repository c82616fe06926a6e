// Opening and describing a socket; sending and receiving are in their own files.
#include "net/udp_socket.h"

#include <fcntl.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/address_text.h"
#include "net/socket_address.h"

namespace homa::net {
namespace {

bool set_option(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

int get_option(int fd, int level, int name) {
  int value = 0;
  socklen_t size = sizeof(value);
  return getsockopt(fd, level, name, &value, &size) == 0 ? value : 0;
}

/// A number from /proc/sys; 0 when it cannot be read (inside a container it may be hidden).
std::size_t read_sysctl(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[32]{};
  const ssize_t got = ::read(fd, text, sizeof(text) - 1);
  ::close(fd);
  return got > 0 ? std::strtoull(text, nullptr, 10) : 0;
}

/// Asks with privilege first, then for as much as an unprivileged process may have.
BufferSize set_buffer(int fd, int force_name, int name, std::size_t asked, const char* limit_path) {
  constexpr std::size_t kLargest = 1u << 30;
  const int value = static_cast<int>(std::min(asked, kLargest));
  if (!set_option(fd, SOL_SOCKET, force_name, value)) (void)set_option(fd, SOL_SOCKET, name, value);
  BufferSize size;
  size.asked = 2 * static_cast<std::size_t>(value);
  size.effective = static_cast<std::size_t>(get_option(fd, SOL_SOCKET, name));
  size.limit = read_sysctl(limit_path);
  return size;
}

struct Descriptor {
  int fd = -1;
  bool ipv6 = false;
};

/// IPv6 if asked for, or IPv4 in its place for the wildcard on a kernel without IPv6.
Descriptor open_descriptor(const HostAddress& host, const UdpOptions& options) {
  constexpr int kType = SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  if (host.is_v4()) return {::socket(AF_INET, kType, 0), false};
  const int fd = ::socket(AF_INET6, kType, 0);
  if (fd < 0 && errno == EAFNOSUPPORT && is_unspecified(host) && !options.v6_only) {
    return {::socket(AF_INET, kType, 0), false};
  }
  return {fd, true};
}

}  // namespace

Result<UdpSocket> UdpSocket::open(const Address& bind, const UdpOptions& options) {
  const std::string subject = "bind " + format(bind);
  if (bind.host.is_link_local() && bind.host.scope == 0) {
    return NetError{NetErrorKind::scope_missing, 0, subject, "a link-local address means nothing without its interface",
                    "write it as fe80::1%eth0"};
  }
  const auto [fd, ipv6] = open_descriptor(bind.host, options);
  if (fd < 0) return interpret_open_error(errno, subject);
  UdpSocket socket(fd, ipv6);
  Address where = bind;
  if (!ipv6 && !bind.host.is_v4()) where.host = HostAddress::v4(0, 0, 0, 0);
  if (ipv6 && !set_option(fd, SOL_IPV6, IPV6_V6ONLY, options.v6_only ? 1 : 0)) {
    return interpret_open_error(errno, subject);
  }
  if (options.reuse_port && !set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1)) return interpret_open_error(errno, subject);
  socket.capabilities_.ipv6 = ipv6;
  socket.capabilities_.dual_stack = ipv6 && !options.v6_only && is_unspecified(where.host);
  socket.one_address_ = !is_unspecified(where.host) && !is_multicast(where.host);
  socket.enable_features(options);
  socket.size_buffers(options);
  SocketAddress name;
  const socklen_t size = encode(where, ipv6, name);
  if (::bind(fd, &name.any, size) != 0) return interpret_open_error(errno, subject);
  socklen_t bound_size = sizeof(name);
  if (getsockname(fd, &name.any, &bound_size) != 0) return interpret_open_error(errno, subject);
  socket.local_ = decode(name);
  return socket;
}

void UdpSocket::enable_features(const UdpOptions& options) {
  Capabilities& can = capabilities_;
  // On a dual-stack socket the IPv4 side has switches of its own; what IPv6 calls packet info covers both.
  const bool v4_side = !ipv6_ || can.dual_stack;
  const auto both = [&](int v4_name, int v6_name, int value) {
    bool ok = true;
    if (v4_side) ok = set_option(fd_, SOL_IP, v4_name, value);
    if (ipv6_) ok = set_option(fd_, SOL_IPV6, v6_name, value) && ok;
    return ok;
  };
  can.packet_info =
      one_address_ || (ipv6_ ? set_option(fd_, SOL_IPV6, IPV6_RECVPKTINFO, 1) : set_option(fd_, SOL_IP, IP_PKTINFO, 1));
  can.tos = both(IP_RECVTOS, IPV6_RECVTCLASS, 1);
  can.error_queue = both(IP_RECVERR, IPV6_RECVERR, 1);
  static_assert(IP_PMTUDISC_PROBE == IPV6_PMTUDISC_PROBE);
  can.path_mtu_probe = both(IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, IP_PMTUDISC_PROBE);
  can.drop_counter = set_option(fd_, SOL_SOCKET, SO_RXQ_OVFL, 1);
  can.gro = options.gro && set_option(fd_, SOL_UDP, UDP_GRO, 1);
  const bool gso_known = set_option(fd_, SOL_UDP, UDP_SEGMENT, 0);
  can.gso = !options.gso ? GsoState::forced_off : gso_known ? GsoState::usable : GsoState::not_in_kernel;
  can.busy_poll = options.busy_poll_us > 0 && set_option(fd_, SOL_SOCKET, SO_BUSY_POLL, options.busy_poll_us);
}

/// Control data costs every send, so the TOS that most of them want becomes the socket's own. Precondition: nothing
/// that relies on the old one waits to be sent.
void UdpSocket::settle_tos(std::uint8_t tos) {
  if (tos == own_tos_) {
    other_tos_in_row_ = 0;
    return;
  }
  if (++other_tos_in_row_ < kSendsBeforeNewTos) return;
  other_tos_in_row_ = 0;
  const bool v4_side = !ipv6_ || capabilities_.dual_stack;
  if (v4_side && !set_option(fd_, SOL_IP, IP_TOS, tos)) return;
  if (!ipv6_ || set_option(fd_, SOL_IPV6, IPV6_TCLASS, tos)) {
    own_tos_ = tos;
  } else if (v4_side) {
    (void)set_option(fd_, SOL_IP, IP_TOS, own_tos_);
  }
}

/// All zero when the kernel chooses that source anyway.
HostAddress UdpSocket::source_to_name(const HostAddress& from) const {
  return one_address_ && from == local_.host ? HostAddress{} : from;
}

void UdpSocket::size_buffers(const UdpOptions& options) {
  BufferSizes& sizes = capabilities_.buffers;
  sizes.receive = set_buffer(fd_, SO_RCVBUFFORCE, SO_RCVBUF, options.receive_buffer, "/proc/sys/net/core/rmem_max");
  sizes.send = set_buffer(fd_, SO_SNDBUFFORCE, SO_SNDBUF, options.send_buffer, "/proc/sys/net/core/wmem_max");
}

UdpSocket::UdpSocket(UdpSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      ipv6_(other.ipv6_),
      last_error_(other.last_error_),
      gso_error_(other.gso_error_),
      last_drop_total_(other.last_drop_total_),
      one_address_(other.one_address_),
      own_tos_(other.own_tos_),
      other_tos_in_row_(other.other_tos_in_row_),
      local_(other.local_),
      capabilities_(other.capabilities_),
      counters_(other.counters_) {}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  if (this == &other) return *this;
  if (fd_ >= 0) ::close(fd_);
  fd_ = std::exchange(other.fd_, -1);
  ipv6_ = other.ipv6_;
  last_error_ = other.last_error_;
  gso_error_ = other.gso_error_;
  last_drop_total_ = other.last_drop_total_;
  one_address_ = other.one_address_;
  own_tos_ = other.own_tos_;
  other_tos_in_row_ = other.other_tos_in_row_;
  local_ = other.local_;
  capabilities_ = other.capabilities_;
  counters_ = other.counters_;
  return *this;
}

UdpSocket::~UdpSocket() {
  if (fd_ >= 0) ::close(fd_);
}

std::size_t UdpSocket::backlog_bytes() const {
  int bytes = 0;
  return ioctl(fd_, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

void UdpSocket::refresh_queue_drops() {
  std::uint32_t values[SK_MEMINFO_VARS]{};
  socklen_t size = sizeof(values);
  if (getsockopt(fd_, SOL_SOCKET, SO_MEMINFO, values, &size) != 0) return;
  if (size > SK_MEMINFO_DROPS * sizeof(values[0])) count_drops(values[SK_MEMINFO_DROPS]);
}

void UdpSocket::count_drops(std::uint32_t total) {
  // The kernel's counter wraps, and a datagram may carry an older reading than the one we asked for ourselves.
  const auto more = static_cast<std::int32_t>(total - last_drop_total_);
  if (more <= 0) return;
  counters_.queue_drops += static_cast<std::uint64_t>(more);
  last_drop_total_ = total;
}

}  // namespace homa::net
