// Sending: trains in one call by segmentation offload, or many datagrams in one call.
#include <netinet/udp.h>

#include <array>
#include <cerrno>

#include "net/socket_address.h"
#include "net/system_calls.h"
#include "net/udp_socket.h"

namespace homa::net {
namespace {

// A stored ICMP error is delivered to whichever call comes next, which then has not sent anything. Others may arrive
// between two attempts, so a few attempts, not one; a true error costs these few system calls and no more.
constexpr int kAttemptsPastPendingErrors = 3;

/// One datagram by the cheapest call that says it all.
bool send_alone(int fd, const msghdr& message) {
  if (message.msg_controllen != 0) return send_message(fd, &message, MSG_DONTWAIT) >= 0;
  const iovec& bytes = message.msg_iov[0];
  return send_to(fd, bytes.iov_base, bytes.iov_len, MSG_DONTWAIT, message.msg_name, message.msg_namelen) >= 0;
}

}  // namespace

/// Destination and control data in the form of sendmsg. Left uninitialised until address() on purpose: a batch has 64.
struct UdpSocket::Envelope {
  SocketAddress name;
  socklen_t name_size;
  std::size_t control_size;
  alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof(in6_pktinfo)) + 2 * CMSG_SPACE(sizeof(int))];

  Envelope() {}  // NOLINT(modernize-use-equals-default): = default would zero the arrays

  /// False when a socket of this family cannot send from `from` to `to`. `own_tos`: what goes without being said.
  bool address(bool ipv6, const Address& to, const HostAddress& from, std::uint8_t tos, std::uint8_t own_tos) {
    control_size = 0;
    name_size = encode(to, ipv6, name);
    if (name_size == 0 || to.port == 0) return false;
    // What goes out as IPv4 takes IPv4 control data, from a dual-stack socket as well.
    const bool v4 = to.host.is_v4();
    if (!is_unspecified(from)) {
      if (from.is_v4() != v4) return false;
      v4 ? add(SOL_IP, IP_PKTINFO, in_pktinfo{0, to_in_addr(from), {}})
         : add(SOL_IPV6, IPV6_PKTINFO, in6_pktinfo{to_in6_addr(from), from.is_link_local() ? from.scope : 0});
    }
    if (tos != own_tos) add(v4 ? SOL_IP : SOL_IPV6, v4 ? IP_TOS : IPV6_TCLASS, int{tos});
    return true;
  }

  template <typename Value>
  void add(int level, int type, const Value& value) {
    cmsghdr header{};
    header.cmsg_level = level;
    header.cmsg_type = type;
    header.cmsg_len = CMSG_LEN(sizeof(Value));
    std::byte* at = control + control_size;
    std::memset(at, 0, CMSG_SPACE(sizeof(Value)));
    std::memcpy(at, &header, sizeof(header));
    std::memcpy(at + CMSG_LEN(0), &value, sizeof(Value));
    control_size += CMSG_SPACE(sizeof(Value));
  }

  void fill(msghdr& message, iovec& vector, ByteView bytes) {
    vector.iov_base = const_cast<std::byte*>(bytes.data);  // sendmsg does not write; its type is older than const
    vector.iov_len = bytes.size;
    message.msg_name = &name;
    message.msg_namelen = name_size;
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control_size == 0 ? nullptr : control;
    message.msg_controllen = control_size;
    message.msg_flags = 0;
  }
};

SendResult UdpSocket::send_train(ByteView flat, std::size_t segment_size, const Address& to, const HostAddress& from,
                                 std::uint8_t tos) {
  Envelope envelope;
  settle_tos(tos);
  if (!envelope.address(ipv6_, to, source_to_name(from), tos, own_tos_)) return {SendStatus::bad_address, 0, EINVAL};
  const std::size_t per_call = std::clamp<std::size_t>(kMaxTrainBytes / segment_size, 1, kMaxSegments) * segment_size;
  SendResult total;
  while (flat.size > 0) {
    const ByteView part{flat.data, std::min(flat.size, per_call)};
    const bool segmented = capabilities_.gso == GsoState::usable && part.size > segment_size;
    const SendResult result =
        segmented ? send_segmented(part, segment_size, envelope) : send_single(part, segment_size, envelope);
    total.sent += result.sent;
    if (result.status != SendStatus::sent) return {result.status, total.sent, result.error};
    flat = {flat.data + part.size, flat.size - part.size};
  }
  return total;
}

SendResult UdpSocket::send_segmented(ByteView part, std::size_t segment_size, Envelope& envelope) {
  const std::size_t plain_control = envelope.control_size;
  envelope.add(SOL_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(segment_size));
  iovec vector;
  msghdr message;
  envelope.fill(message, vector, part);
  envelope.control_size = plain_control;
  for (int attempt = 1;; ++attempt) {
    if (send_message(fd_, &message, MSG_DONTWAIT) >= 0) {
      ++counters_.segmented_sends;
      counters_.pending_errors += static_cast<std::uint64_t>(attempt - 1);
      return {SendStatus::sent, (part.size + segment_size - 1) / segment_size, 0};
    }
    const int error = errno;
    // EIO: the route cannot checksum segments (no offload on older kernels, IPsec). EINVAL: among others.
    if (error == EIO || error == EINVAL) return check_refused_gso(part, segment_size, envelope, error);
    const SendErrorMeaning meaning = interpret_send_error(error);
    if (error == EINTR || (meaning.maybe_pending && attempt < kAttemptsPastPendingErrors)) continue;
    return {meaning.status, 0, error};
  }
}

/// GSO is to blame only if the first segment passes alone; a segment above the MTU, or a source address that is gone,
/// gives EINVAL either way on some kernels.
SendResult UdpSocket::check_refused_gso(ByteView part, std::size_t segment_size, Envelope& envelope, int error) {
  const SendResult first = send_single({part.data, segment_size}, segment_size, envelope);
  if (first.status != SendStatus::sent) return first;
  capabilities_.gso = GsoState::refused;
  gso_error_ = error;
  ++counters_.gso_refused;
  const ByteView rest{part.data + segment_size, part.size - segment_size};
  SendResult result = send_single(rest, segment_size, envelope);
  ++result.sent;
  return result;
}

SendResult UdpSocket::send_single(ByteView part, std::size_t segment_size, Envelope& envelope) {
  std::array<mmsghdr, kMaxSegments> messages;
  std::array<iovec, kMaxSegments> vectors;
  std::size_t count = 0;
  for (std::size_t at = 0; at < part.size; at += segment_size, ++count) {
    envelope.fill(messages[count].msg_hdr, vectors[count], {part.data + at, std::min(segment_size, part.size - at)});
  }
  return send_messages(messages.data(), count);
}

SendResult UdpSocket::send_batch(const Outgoing* items, std::size_t count) {
  std::array<Envelope, kMaxSegments> envelopes;
  std::array<mmsghdr, kMaxSegments> messages;
  std::array<iovec, kMaxSegments> vectors;
  std::size_t sent = 0;
  while (sent < count) {
    settle_tos(items[sent].tos);
    const std::size_t chunk = std::min(count - sent, kMaxSegments);
    std::size_t ready = 0;
    for (; ready < chunk; ++ready) {
      const Outgoing& item = items[sent + ready];
      if (!envelopes[ready].address(ipv6_, item.to, source_to_name(item.from), item.tos, own_tos_)) break;
      envelopes[ready].fill(messages[ready].msg_hdr, vectors[ready], item.bytes);
    }
    const SendResult result = send_messages(messages.data(), ready);
    sent += result.sent;
    if (result.status != SendStatus::sent) return {result.status, sent, result.error};
    if (ready < chunk) return {SendStatus::bad_address, sent, EINVAL};
  }
  return {SendStatus::sent, sent, 0};
}

SendResult UdpSocket::send_messages(mmsghdr* messages, std::size_t count) {
  std::size_t sent = 0;
  int attempt = 1;
  while (sent < count) {
    const int n = count - sent == 1
                      ? (send_alone(fd_, messages[sent].msg_hdr) ? 1 : -1)
                      : net::send_messages(fd_, messages + sent, static_cast<unsigned>(count - sent), MSG_DONTWAIT);
    if (n > 0) {
      // When it stopped in the middle the next call tells why.
      sent += static_cast<std::size_t>(n);
      counters_.single_sends += static_cast<std::uint64_t>(n);
      counters_.pending_errors += static_cast<std::uint64_t>(attempt - 1);
      attempt = 1;
      continue;
    }
    const int error = errno;
    if (error == EINTR) continue;
    const SendErrorMeaning meaning = interpret_send_error(error);
    if (meaning.maybe_pending && attempt++ < kAttemptsPastPendingErrors) continue;
    return {meaning.status, sent, error};
  }
  return {SendStatus::sent, sent, 0};
}

}  // namespace homa::net
