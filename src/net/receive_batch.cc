#include "net/receive_batch.h"

#include "net/receive_slots.h"

namespace homa::net {

ReceiveBatch::Slots::Slots(std::size_t buffers, std::size_t size)
    : count(buffers),
      buffer_size(size),
      memory(std::make_unique_for_overwrite<std::byte[]>(buffers * size)),
      messages(std::make_unique<mmsghdr[]>(buffers)),
      vectors(std::make_unique<iovec[]>(buffers)),
      names(std::make_unique<SocketAddress[]>(buffers)),
      controls(std::make_unique<ControlRoom[]>(buffers)) {
  for (std::size_t i = 0; i < count; ++i) {
    vectors[i] = {memory.get() + i * buffer_size, buffer_size};
    msghdr& header = messages[i].msg_hdr;
    header.msg_name = &names[i];
    header.msg_iov = &vectors[i];
    header.msg_iovlen = 1;
    header.msg_control = &controls[i];
  }
  make_ready(count);
}

void ReceiveBatch::Slots::make_ready(std::size_t used) {
  for (std::size_t i = 0; i < used; ++i) {
    msghdr& header = messages[i].msg_hdr;
    header.msg_namelen = sizeof(SocketAddress);
    header.msg_controllen = sizeof(ControlRoom);
    header.msg_flags = 0;
  }
}

ReceiveBatch::ReceiveBatch(std::size_t buffers, std::size_t buffer_size)
    : slots_(std::make_unique<Slots>(buffers, buffer_size)), received_(std::make_unique<Received[]>(buffers)) {}

ReceiveBatch::ReceiveBatch(ReceiveBatch&&) noexcept = default;
ReceiveBatch& ReceiveBatch::operator=(ReceiveBatch&&) noexcept = default;
ReceiveBatch::~ReceiveBatch() = default;

std::size_t ReceiveBatch::capacity() const {
  return slots_->count;
}

}  // namespace homa::net
