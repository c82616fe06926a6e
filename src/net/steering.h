// Sends each datagram of a group of sockets that share a port (SO_REUSEPORT) to the shard that its frame names.
//
// The kernel runs a tiny classic BPF program, which needs no privilege, over the UDP payload: byte 0 bit 0 (reversed)
// chooses between byte 5 and byte 4 as the shard; see docs/wire.md section 2. What names no shard (destination id 0,
// shorter than a frame header, shard out of range) goes where the kernel's hash of the addresses says.
//
// Order rule: shard i is the i-th socket bound in the group. When a member closes, the kernel moves the last one into
// its place: close all or none.
#pragma once

#include <cstddef>

#include "net/errors.h"

namespace homa::net {

inline constexpr std::size_t kMaxSteeredShards = 256;

/// Attach to any one member after it is bound; it holds for the whole group. Returns kind `none` on success.
/// Precondition: 1 <= shard_count <= kMaxSteeredShards.
[[nodiscard]] NetError attach_steering(int fd, std::size_t shard_count);

}  // namespace homa::net
