// A received message, and views of bytes to send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "homa/callback.h"

namespace homa {

namespace runtime {
class ShardLink;
}

/// Bytes owned by somebody else; the function that takes them says until when they must stay valid.
using Bytes = std::span<const std::byte>;

/// The bytes of a text, for convenience.
inline Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Pieces of memory that are sent as one message, in order, without being copied by the library beforehand.
///
/// The array of pieces is only read during the call that takes it. The memory itself must stay valid and unchanged
/// until `released` runs, which happens exactly once, on a thread of the library (in caller-driven mode: of the
/// caller, inside a library call), unless the function that takes the Gather returns an error.
struct Gather {
  std::span<const Bytes> pieces;
  UniqueFunction<void()> released;
};

/// A whole received message. Owns its memory and gives it back to the library when destroyed.
///
/// Move-only. One thread at a time may use it, any thread may destroy it, also after its Client or Server is gone.
/// Held messages count against EndpointOptions::receive_memory: a program that keeps too many slows its peers down.
class Message {
 public:
  Message() = default;
  Message(Message&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        owner_(std::exchange(other.owner_, nullptr)) {}
  Message& operator=(Message&& other) noexcept {
    if (this != &other) {
      reset();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      owner_ = std::exchange(other.owner_, nullptr);
    }
    return *this;
  }
  ~Message() { reset(); }

  /// The memory may be written to (to edit in place and send back, for example). Null when empty.
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Valid as long as the Message is.
  Bytes view() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

  /// Gives the memory back now.
  void reset() {
    if (owner_ != nullptr) give_back();
    data_ = nullptr;
    size_ = 0;
  }

 private:
  friend class runtime::ShardLink;
  Message(std::byte* data, std::size_t size, runtime::ShardLink* owner) : data_(data), size_(size), owner_(owner) {}
  void give_back();  // out of line: the owner is internal

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  runtime::ShardLink* owner_ = nullptr;
};

}  // namespace homa
