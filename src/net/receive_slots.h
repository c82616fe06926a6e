// The inside of a ReceiveBatch: what recvmmsg works on. Internal to src/net.
#pragma once

#include <sys/socket.h>

#include <memory>

#include "net/receive_batch.h"
#include "net/socket_address.h"

namespace homa::net {

/// Room for every control message that a socket of ours can get at once (packet info 40, TOS 24, GRO 24, drops 24),
/// twice over, so that MSG_CTRUNC means something unforeseen.
struct alignas(cmsghdr) ControlRoom {
  std::byte bytes[256];
};

struct ReceiveBatch::Slots {
  Slots(std::size_t buffers, std::size_t size);
  /// Undoes what the kernel wrote into the lengths of the first `used` slots.
  void make_ready(std::size_t used);

  std::size_t count;
  std::size_t buffer_size;
  std::unique_ptr<std::byte[]> memory;
  std::unique_ptr<mmsghdr[]> messages;
  std::unique_ptr<iovec[]> vectors;
  std::unique_ptr<SocketAddress[]> names;
  std::unique_ptr<ControlRoom[]> controls;
};

}  // namespace homa::net
