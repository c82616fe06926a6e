#include "net/steering.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <cerrno>

namespace homa::net {
namespace {

// The kernel takes a result beyond the number of sockets for "no opinion" and falls back to its hash.
constexpr std::uint32_t kNoOpinion = 0xffffffff;
constexpr std::uint32_t kFrameHeader = 16;

sock_filter statement(int code, std::uint32_t k) {
  return {static_cast<std::uint16_t>(code), 0, 0, k};
}
sock_filter jump(int code, std::uint32_t k, std::uint8_t if_true, std::uint8_t if_false) {
  return {static_cast<std::uint16_t>(code), if_true, if_false, k};
}

}  // namespace

NetError attach_steering(int fd, std::size_t shard_count) {
  // Loads outside the datagram would end the program with 0, a valid shard: the length comes first.
  sock_filter program[] = {
      /* 0 */ statement(BPF_LD | BPF_W | BPF_LEN, 0),
      /* 1 */ jump(BPF_JMP | BPF_JGE | BPF_K, kFrameHeader, 0, 10),
      /* 2 */ statement(BPF_LD | BPF_W | BPF_ABS, 4),  // id, high half
      /* 3 */ jump(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2),
      /* 4 */ statement(BPF_LD | BPF_W | BPF_ABS, 8),  // id, low half
      /* 5 */ jump(BPF_JMP | BPF_JEQ | BPF_K, 0, 6, 0),
      /* 6 */ statement(BPF_LD | BPF_B | BPF_ABS, 0),
      /* 7 */ jump(BPF_JMP | BPF_JSET | BPF_K, 1, 0, 2),  // reversed
      /* 8 */ statement(BPF_LD | BPF_B | BPF_ABS, 5),
      /* 9 */ statement(BPF_JMP | BPF_JA, 1),
      /* 10 */ statement(BPF_LD | BPF_B | BPF_ABS, 4),
      /* 11 */ jump(BPF_JMP | BPF_JGE | BPF_K, static_cast<std::uint32_t>(shard_count), 0, 1),
      /* 12 */ statement(BPF_RET | BPF_K, kNoOpinion),
      /* 13 */ statement(BPF_RET | BPF_A, 0),
  };
  const sock_fprog code{static_cast<unsigned short>(std::size(program)), program};
  if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &code, sizeof(code)) != 0) {
    return interpret_open_error(errno, "steer datagrams among " + std::to_string(shard_count) + " shards");
  }
  return {};
}

}  // namespace homa::net
