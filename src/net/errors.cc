#include "net/errors.h"

#include <cerrno>
#include <cstring>
#include <system_error>

namespace homa::net {
namespace {

struct SendRow {
  int error;
  SendErrorMeaning meaning;
};

// What is not listed is taken for a trouble of this one peer: a strange errno must not take the endpoint down.
constexpr SendRow kSendErrors[] = {
    // The socket's own send buffer is full (EWOULDBLOCK is the same number on Linux).
    {EAGAIN, {SendStatus::would_block, false}},
    // Queue of the interface full (reported because IP_RECVERR is on), or a datagram above twice SO_SNDBUF.
    {ENOBUFS, {SendStatus::no_buffers, false}},
    // The kernel found no memory for the packet.
    {ENOMEM, {SendStatus::no_buffers, false}},
    // Larger than the interface's MTU with DF set; or an ICMP "fragmentation needed" about an earlier datagram.
    {EMSGSIZE, {SendStatus::too_big, true}},
    // ICMP port unreachable about an earlier datagram.
    {ECONNREFUSED, {SendStatus::unreachable, true}},
    // ICMP host unreachable, no ARP or neighbour answer, or an `unreachable` route.
    {EHOSTUNREACH, {SendStatus::unreachable, true}},
    // No route; or ICMP network unreachable; or IPv4 from a socket that is IPv6 only; or over IPv4 a chosen source
    // address that is not (or no longer) of this host.
    {ENETUNREACH, {SendStatus::unreachable, true}},
    // ICMP: host unknown, source isolated.
    {EHOSTDOWN, {SendStatus::unreachable, true}},
    {ENONET, {SendStatus::unreachable, true}},
    // ICMP protocol unreachable; parameter problem; source route failed.
    {ENOPROTOOPT, {SendStatus::unreachable, true}},
    {EPROTO, {SendStatus::unreachable, true}},
    {EOPNOTSUPP, {SendStatus::unreachable, true}},
    // A `prohibit` route, an IPv4 broadcast address, or ICMPv6 "administratively prohibited".
    {EACCES, {SendStatus::unreachable, true}},
    // The interface went down, or the one that a scope names is gone.
    {ENETDOWN, {SendStatus::unreachable, true}},
    {ENODEV, {SendStatus::unreachable, false}},
    {ENXIO, {SendStatus::unreachable, false}},
    // A rule of the local packet filter (nftables, iptables, cgroup BPF) drops it on output.
    {EPERM, {SendStatus::not_permitted, false}},
    // Over IPv6 a chosen source address that is not (or no longer) of this host.
    {EINVAL, {SendStatus::bad_address, false}},
    {EADDRNOTAVAIL, {SendStatus::bad_address, false}},
    // A family that this socket does not speak.
    {EAFNOSUPPORT, {SendStatus::bad_address, false}},
    {EDESTADDRREQ, {SendStatus::bad_address, false}},
    // The descriptor is closed or shut down, or our own memory is wrong: a defect, not weather.
    {EBADF, {SendStatus::fatal, false}},
    {ENOTSOCK, {SendStatus::fatal, false}},
    {EPIPE, {SendStatus::fatal, false}},
    {EFAULT, {SendStatus::fatal, false}},
};

struct OpenRow {
  int error;
  NetErrorKind kind;
  const char* cause;
  const char* cure;
};

constexpr OpenRow kOpenErrors[] = {
    // bind: taken, and one of the two sockets has no SO_REUSEPORT or another user owns it.
    {EADDRINUSE, NetErrorKind::address_in_use, "another socket has this port",
     "choose another port, or stop its owner (ss -ulnp shows it)"},
    // bind: no such address; also while its interface is down or IPv6 duplicate address detection is running.
    {EADDRNOTAVAIL, NetErrorKind::address_not_local, "no interface that is up has this address",
     "check `ip address`, bring the interface up, or bind the wildcard address"},
    // bind: the scope names an interface that does not exist.
    {ENODEV, NetErrorKind::address_not_local, "the interface that the scope names does not exist", "check `ip link`"},
    {EINVAL, NetErrorKind::address_not_local, "this address cannot be bound here",
     "a link-local address needs its interface (fe80::1%eth0)"},
    // bind: port below net.ipv4.ip_unprivileged_port_start; also SELinux and the like.
    {EACCES, NetErrorKind::no_permission, "this user may not bind this port",
     "use a port of 1024 or more, or grant CAP_NET_BIND_SERVICE"},
    {EPERM, NetErrorKind::no_permission, "the system forbids it", "look for a cgroup, seccomp or security module rule"},
    // socket: kernel without the family (ipv6.disable=1).
    {EAFNOSUPPORT, NetErrorKind::family_not_supported, "this kernel does not speak that IP version",
     "bind an address of the other IP version"},
    {EMFILE, NetErrorKind::no_descriptors, "this process has no file descriptor left", "raise ulimit -n"},
    {ENFILE, NetErrorKind::no_descriptors, "the system has no file descriptor left", "raise fs.file-max"},
    {ENOBUFS, NetErrorKind::no_memory, "the kernel has no memory for a socket", "free memory"},
    {ENOMEM, NetErrorKind::no_memory, "the kernel has no memory for it",
     "free memory, or raise net.core.optmem_max if it was a filter program"},
    // setsockopt: older kernel.
    {ENOPROTOOPT, NetErrorKind::not_supported, "this kernel lacks a socket option that is needed",
     "use Linux 4.18 or later"},
};

}  // namespace

SendErrorMeaning interpret_send_error(int error) {
  for (const SendRow& row : kSendErrors) {
    if (row.error == error) return row.meaning;
  }
  return {SendStatus::unreachable, false};
}

NetError interpret_open_error(int error, std::string subject) {
  for (const OpenRow& row : kOpenErrors) {
    if (row.error == error) return {row.kind, error, std::move(subject), row.cause, row.cure};
  }
  return {NetErrorKind::other, error, std::move(subject), "the system refused", "see the error in parentheses"};
}

std::string errno_text(int error) {
  return std::generic_category().message(error);
}

std::string NetError::describe() const {
  if (kind == NetErrorKind::none) return "no error";
  std::string text = subject + ": " + cause;
  if (error != 0) text += " (" + errno_text(error) + ")";
  if (!cure.empty()) text += "; " + cure;
  return text;
}

std::string_view to_text(SendStatus status) {
  switch (status) {
    case SendStatus::sent:
      return "sent";
    case SendStatus::would_block:
      return "would block";
    case SendStatus::no_buffers:
      return "no buffers";
    case SendStatus::too_big:
      return "too big";
    case SendStatus::unreachable:
      return "unreachable";
    case SendStatus::not_permitted:
      return "not permitted";
    case SendStatus::bad_address:
      return "bad address";
    case SendStatus::fatal:
      return "fatal";
  }
  return "unknown";
}

std::string_view to_text(NetErrorKind kind) {
  switch (kind) {
    case NetErrorKind::none:
      return "none";
    case NetErrorKind::address_in_use:
      return "address in use";
    case NetErrorKind::address_not_local:
      return "address not local";
    case NetErrorKind::scope_missing:
      return "scope missing";
    case NetErrorKind::no_permission:
      return "no permission";
    case NetErrorKind::family_not_supported:
      return "family not supported";
    case NetErrorKind::no_descriptors:
      return "no descriptors";
    case NetErrorKind::no_memory:
      return "no memory";
    case NetErrorKind::not_supported:
      return "not supported";
    case NetErrorKind::bad_text:
      return "bad text";
    case NetErrorKind::unknown_name:
      return "unknown name";
    case NetErrorKind::name_service:
      return "name service";
    case NetErrorKind::other:
      return "other";
  }
  return "unknown";
}

}  // namespace homa::net
