// What the environment can refuse, as values. The one table that gives an errno its meaning is in errors.cc.
//
// Thread rule: pure functions. Ownership rule: everything is a value; texts named `cause` and `cure` are static.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace homa::net {

/// The end of a send. Only `fatal` means that the socket is of no use any more.
enum class SendStatus : std::uint8_t {
  sent,           ///< everything was handed to the kernel
  would_block,    ///< socket buffer full: go on when poll() says writable
  no_buffers,     ///< queue or memory below the socket full: go on later; no event will announce it
  too_big,        ///< a datagram is larger than the MTU of the interface: send smaller ones, now
  unreachable,    ///< no route, or the peer's host refused: a soft error, the same peer may work later
  not_permitted,  ///< a local packet filter dropped it: treat as lost
  bad_address,    ///< this destination or source cannot be used from this socket; others can
  fatal,          ///< see SendResult::error
};

/// Exactly how far a send came. `sent` counts segments (send_train) or items (send_batch) that the kernel took, so
/// the rest can be sent again without doubling anything. `status` tells what happened to the next one.
struct [[nodiscard]] SendResult {
  SendStatus status = SendStatus::sent;
  std::size_t sent = 0;
  int error = 0;  ///< errno behind a status other than `sent`
};

/// The end of a receive.
enum class ReceiveStatus : std::uint8_t {
  received,  ///< the kernel gave something (the batch is empty if all of it had to be dropped)
  empty,     ///< nothing there: the socket is drained, as it is when a batch is not full
  fatal,     ///< see UdpSocket::last_error()
};

/// Why a socket, guard or address could not be had.
enum class NetErrorKind : std::uint8_t {
  none,
  address_in_use,        ///< another socket has this port
  address_not_local,     ///< no interface (that is up) has this address
  scope_missing,         ///< link-local address without its interface
  no_permission,         ///< privileged port, or a security module
  family_not_supported,  ///< no IPv6 (or IPv4) in this kernel
  no_descriptors,        ///< limit on open files
  no_memory,
  not_supported,  ///< the kernel lacks something that we cannot do without
  bad_text,       ///< an address that cannot be read
  unknown_name,   ///< a host name that nobody knows
  name_service,   ///< the name service itself failed
  other,
};

/// An error with everything that a person needs: what was tried, what went wrong, what to do.
struct NetError {
  NetErrorKind kind = NetErrorKind::none;
  int error = 0;        ///< errno, or 0
  std::string subject;  ///< what it is about: "bind 10.0.0.1:4000"
  std::string cause;    ///< "another socket has this port"
  std::string cure;     ///< "choose another port, or ..."
  /// One line: "bind 10.0.0.1:4000: another socket has this port (Address already in use); choose another port ...".
  std::string describe() const;
};

std::string_view to_text(SendStatus status);
std::string_view to_text(NetErrorKind kind);

/// What an errno of a send means. `maybe_pending`: the kernel may have handed us a stored ICMP error of an earlier
/// datagram instead of trying this one, so trying once more tells.
struct SendErrorMeaning {
  SendStatus status;
  bool maybe_pending;
};
SendErrorMeaning interpret_send_error(int error);

/// What an errno of socket(), bind() or setsockopt() means.
NetError interpret_open_error(int error, std::string subject);

/// strerror without its data race.
std::string errno_text(int error);

}  // namespace homa::net
