#include "runtime/operation.h"

#include <utility>

namespace homa::runtime {

void Operation::send_copy(Bytes bytes) {
  if (bytes.size() > copy_capacity) {
    copy_capacity = bytes.size() < 256 ? 256 : bytes.size();
    copy.reset(new std::byte[copy_capacity]);
  }
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  const Bytes piece(copy.get(), bytes.size());
  send_pieces({&piece, 1});
}

void Operation::send_pieces(std::span<const Bytes> pieces) {
  ByteView* to = few_pieces.data();
  if (pieces.size() > few_pieces.size()) {
    many_pieces.resize(pieces.size());
    to = many_pieces.data();
  }
  std::uint32_t count = 0;
  std::uint64_t length = 0;
  for (const Bytes& piece : pieces) {
    if (piece.empty()) continue;
    to[count++] = {piece.data(), piece.size()};
    length += piece.size();
  }
  payload.pieces = to;
  payload.piece_count = count;
  payload.length = length;
}

void Operation::send_message(Message&& message) {
  forwarded = std::move(message);
  const Bytes piece = forwarded.view();
  send_pieces({&piece, 1});
}

void Operation::release_payload() {
  forwarded.reset();
  if (copy_capacity > kKeptCopy) {
    copy.reset();
    copy_capacity = 0;
  }
  if (many_pieces.capacity() > kKeptCopy / sizeof(ByteView)) many_pieces = {};
  if (released) std::exchange(released, nullptr)();
}

void Operation::clear() {
  released.reset();
  forwarded.reset();
  done = std::monostate();
  payload = {};
  options = {};
  call = {};
  call_open = payload_open = counted = false;
  ended.store(0, std::memory_order_relaxed);
}

}  // namespace homa::runtime
