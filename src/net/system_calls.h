// The calls of the hot path, without what glibc adds to them.
//
// glibc makes each a cancellation point, which in a program with threads costs two atomic operations a call (40 ns of a
// 2 us round trip here). A shard's thread is never cancelled, so they are made directly. Results and errno as usual.
#pragma once

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace homa::net {

inline ssize_t receive_message(int fd, msghdr* message, int flags) {
  return ::syscall(SYS_recvmsg, fd, message, flags);
}
inline int receive_messages(int fd, mmsghdr* messages, unsigned count, int flags) {
  return static_cast<int>(::syscall(SYS_recvmmsg, fd, messages, count, flags, nullptr));
}
inline ssize_t send_message(int fd, const msghdr* message, int flags) {
  return ::syscall(SYS_sendmsg, fd, message, flags);
}
inline int send_messages(int fd, mmsghdr* messages, unsigned count, int flags) {
  return static_cast<int>(::syscall(SYS_sendmmsg, fd, messages, count, flags));
}
inline ssize_t send_to(int fd, const void* data, std::size_t size, int flags, const void* name, socklen_t name_size) {
  return ::syscall(SYS_sendto, fd, data, size, flags, name, name_size);
}

}  // namespace homa::net
