// One thing that the application asked for: a call, a one-way message, or an answer; and the memory that it sends from.
//
// Threads: whoever fills an operation hands it to the shard and does not touch it again, except a blocked caller, which
// waits on `ended`. Ownership: operations live in an OperationPool and are never freed before it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "base/address.h"
#include "homa/callback.h"
#include "homa/error.h"
#include "homa/message.h"
#include "protocol/event.h"

namespace homa::runtime {

/// What a call leaves for a caller that is blocked.
struct Outcome {
  protocol::CallStatus status = protocol::CallStatus::ok;
  ErrorCode not_started = ErrorCode::would_block;  ///< only if !started
  bool started = true;
  protocol::PeerTraffic traffic;
  Message response;
};

struct Operation {
  using ResponseCallback = UniqueFunction<void(Result<Message>)>;
  using OneWayCallback = UniqueFunction<void(Result<void>)>;

  /// Copies of payload up to this size stay with the pooled operation, so that small messages allocate nothing.
  static constexpr std::size_t kKeptCopy = 4096;

  // --- what to send --------------------------------------------------------------------------------------------
  Address server;
  protocol::CallOptions options;
  std::array<ByteView, 4> few_pieces;
  std::vector<ByteView> many_pieces;
  protocol::Payload payload;
  std::unique_ptr<std::byte[]> copy;
  std::size_t copy_capacity = 0;
  UniqueFunction<void()> released;
  Message forwarded;  ///< a received message that is being sent

  // --- how it goes on ------------------------------------------------------------------------------------------
  protocol::CallId call;
  bool call_open = false;     ///< call_finished is to come
  bool payload_open = false;  ///< payload_released is to come
  bool counted = false;       ///< in ShardLink::pending
  std::variant<std::monostate, ResponseCallback, OneWayCallback, Outcome> done;
  /// Blocked callers: 1 when both the call and its payload have ended.
  std::atomic<std::uint32_t> ended{0};

  // --- links ---------------------------------------------------------------------------------------------------
  Operation* next = nullptr;  ///< in a free list of the pool, or in the shard's list of what is under way
  Operation* previous = nullptr;
  std::uint32_t index = 0;
  /// Counts uses; stale tokens are recognised by it. Atomic, as a stale token may be looked up during another use.
  std::atomic<std::uint64_t> generation{0};

  void send_copy(Bytes bytes);
  void send_pieces(std::span<const Bytes> pieces);
  void send_message(Message&& message);
  /// The payload's memory is no longer read: gives it back to whom it belongs.
  void release_payload();
  /// Ready for the next use.
  void clear();
};

}  // namespace homa::runtime
