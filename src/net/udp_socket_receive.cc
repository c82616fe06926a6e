// Receiving: coalesced buffers with their control data, and the error queue.
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <time.h>

// After <time.h>: the kernel's header uses timespec without declaring it.
#include <linux/errqueue.h>

#include <algorithm>
#include <cerrno>

#include "net/receive_slots.h"
#include "net/system_calls.h"
#include "net/udp_socket.h"

namespace homa::net {
namespace {

template <typename Value>
Value read_control(const cmsghdr* header) {
  Value value{};
  std::memcpy(&value, CMSG_DATA(header), std::min(sizeof(Value), header->cmsg_len - CMSG_LEN(0)));
  return value;
}

/// What the control data of one received buffer says.
struct ControlFacts {
  HostAddress to;
  std::uint8_t tos = 0;
  std::size_t segment_size = 0;  // 0: not coalesced
  std::uint32_t drops = 0;       // 0: none so far, the kernel says nothing
};

void read_ip_control(const cmsghdr* header, ControlFacts& facts) {
  if (header->cmsg_type == IP_PKTINFO) facts.to = from_in_addr(read_control<in_pktinfo>(header).ipi_addr);
  if (header->cmsg_type == IP_TOS) facts.tos = read_control<std::uint8_t>(header);
}

void read_ipv6_control(const cmsghdr* header, ControlFacts& facts) {
  if (header->cmsg_type == IPV6_PKTINFO) {
    const auto info = read_control<in6_pktinfo>(header);
    facts.to = from_in6_addr(info.ipi6_addr, info.ipi6_ifindex);
  }
  if (header->cmsg_type == IPV6_TCLASS) facts.tos = static_cast<std::uint8_t>(read_control<int>(header));
}

ControlFacts read_all_control(msghdr& message) {
  ControlFacts facts;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    switch (header->cmsg_level) {
      case SOL_IP:
        read_ip_control(header, facts);
        break;
      case SOL_IPV6:
        read_ipv6_control(header, facts);
        break;
      case SOL_UDP:
        if (header->cmsg_type == UDP_GRO) facts.segment_size = static_cast<std::size_t>(read_control<int>(header));
        break;
      case SOL_SOCKET:
        if (header->cmsg_type == SO_RXQ_OVFL) facts.drops = read_control<std::uint32_t>(header);
        break;
      default:
        break;
    }
  }
  // Nobody can answer from a group address.
  if (is_multicast(facts.to)) facts.to = {};
  return facts;
}

PeerError::Kind kind_of(const sock_extended_err& report) {
  if (report.ee_errno == EMSGSIZE) return PeerError::Kind::too_big;
  if (report.ee_origin == SO_EE_ORIGIN_ICMP && report.ee_type == ICMP_DEST_UNREACH) {
    return report.ee_code == ICMP_PORT_UNREACH ? PeerError::Kind::port_unreachable : PeerError::Kind::host_unreachable;
  }
  if (report.ee_origin == SO_EE_ORIGIN_ICMP6 && report.ee_type == ICMP6_DST_UNREACH) {
    return report.ee_code == ICMP6_DST_UNREACH_NOPORT ? PeerError::Kind::port_unreachable
                                                      : PeerError::Kind::host_unreachable;
  }
  return PeerError::Kind::other;
}

PeerError to_peer_error(msghdr& message, const SocketAddress& name) {
  PeerError result;
  result.peer = message.msg_namelen == 0 ? Address{} : decode(name);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    const bool v4 = header->cmsg_level == SOL_IP && header->cmsg_type == IP_RECVERR;
    const bool v6 = header->cmsg_level == SOL_IPV6 && header->cmsg_type == IPV6_RECVERR;
    if (!v4 && !v6) continue;
    const auto report = read_control<sock_extended_err>(header);
    result.kind = kind_of(report);
    result.error = static_cast<int>(report.ee_errno);
    result.local = report.ee_origin == SO_EE_ORIGIN_LOCAL;
    if (result.kind == PeerError::Kind::too_big) result.mtu = report.ee_info;
  }
  return result;
}

/// As recvmmsg; for one buffer the plainer call costs less.
int receive_some(int fd, mmsghdr* messages, std::size_t count) {
  if (count > 1) return receive_messages(fd, messages, static_cast<unsigned>(count), MSG_DONTWAIT);
  const ssize_t got = receive_message(fd, &messages[0].msg_hdr, MSG_DONTWAIT);
  if (got < 0) return -1;
  messages[0].msg_len = static_cast<unsigned>(got);
  return 1;
}

}  // namespace

ReceiveStatus UdpSocket::receive(ReceiveBatch& batch, std::size_t most) {
  // Stored ICMP errors come out of receives too; the error queue keeps their details.
  constexpr int kAttempts = 4;
  ReceiveBatch::Slots& slots = *batch.slots_;
  slots.make_ready(batch.kernel_filled_);
  batch.size_ = 0;
  batch.kernel_filled_ = 0;
  batch.asked_ = std::min(most, slots.count);
  int got = -1;
  for (int attempt = 0; attempt < kAttempts && got < 0; ++attempt) {
    got = receive_some(fd_, slots.messages.get(), batch.asked_);
    if (got >= 0) break;
    if (errno == EAGAIN || errno == ENOMEM) return ReceiveStatus::empty;
    if (errno == EINTR) continue;
    if (!interpret_send_error(errno).maybe_pending) {
      last_error_ = errno;
      return ReceiveStatus::fatal;
    }
    ++counters_.pending_errors;
  }
  if (got <= 0) return ReceiveStatus::empty;
  batch.kernel_filled_ = static_cast<std::size_t>(got);
  for (std::size_t i = 0; i < batch.kernel_filled_; ++i) {
    if (accept(batch, i, batch.received_[batch.size_])) ++batch.size_;
  }
  return ReceiveStatus::received;
}

bool UdpSocket::accept(ReceiveBatch& batch, std::size_t slot, Received& out) {
  mmsghdr& message = batch.slots_->messages[slot];
  const ControlFacts facts = read_all_control(message.msg_hdr);
  count_drops(facts.drops == 0 ? last_drop_total_ : facts.drops);
  if ((message.msg_hdr.msg_flags & MSG_TRUNC) != 0) {
    ++counters_.truncated;
    return false;
  }
  if ((message.msg_hdr.msg_flags & MSG_CTRUNC) != 0) {
    ++counters_.control_truncated;  // without the segment size the bytes cannot be told apart
    return false;
  }
  out.from = decode(batch.slots_->names[slot]);
  out.to = one_address_ ? local_.host : facts.to;
  out.tos = facts.tos;
  out.bytes = {static_cast<std::byte*>(batch.slots_->vectors[slot].iov_base), message.msg_len};
  out.segment_size = facts.segment_size == 0 ? out.bytes.size : facts.segment_size;
  return true;
}

std::size_t UdpSocket::read_errors(PeerError* out, std::size_t max) {
  std::size_t count = 0;
  while (count < max) {
    SocketAddress name{};
    ControlRoom control;
    msghdr message{};
    message.msg_name = &name;
    message.msg_namelen = sizeof(name);
    message.msg_control = &control;
    message.msg_controllen = sizeof(control);
    const ssize_t got = ::recvmsg(fd_, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    out[count++] = to_peer_error(message, name);
  }
  return count;
}

}  // namespace homa::net
