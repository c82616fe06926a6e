// What is behind a Client: the shards, and the ways to start calls on them.
//
// Threads: any with own threads, one at a time when caller-driven. Ownership: owns the shards.
#pragma once

#include <memory>
#include <span>

#include "homa/client.h"
#include "runtime/call_status.h"
#include "runtime/shard_group.h"

namespace homa::api {

class ClientCore {
 public:
  static Result<std::unique_ptr<ClientCore>> open(const ClientOptions& options);

  /// Starts a call and waits until it has ended. The pieces are read until the return.
  runtime::Outcome run_blocking(const Address& server, std::span<const Bytes> pieces, const CallOptions& options,
                                bool one_way);

  /// Starts a call, or says why not: then neither `done` nor `released` has run or will.
  template <typename Callback>
  Result<CallToken> start(const Address& server, Bytes request, const CallOptions& options, Callback done) {
    return begin(
        server, options, std::move(done), [&](runtime::Operation& operation) { operation.send_copy(request); },
        request.size());
  }
  template <typename Callback>
  Result<CallToken> start(const Address& server, Gather request, const CallOptions& options, Callback done) {
    std::size_t length = 0;
    for (const Bytes& piece : request.pieces) length += piece.size();
    const auto fill = [&](runtime::Operation& operation) {
      operation.send_pieces(request.pieces);
      operation.released = std::move(request.released);
    };
    return begin(server, options, std::move(done), fill, length);
  }

  void cancel(const CallToken& token);
  void notify_writable(UniqueFunction<void()> ready);
  bool poll(Duration timeout);
  int fd();
  void close() { shards_->stop(); }

  std::uint64_t max_message_length() const { return max_message_length_; }
  runtime::ShardGroup& shards() { return *shards_; }

 private:
  explicit ClientCore(const ClientOptions& options)
      : max_message_length_(options.max_message_length), max_pending_calls_(options.max_pending_calls) {}

  /// The shard, if the calling thread may use it directly.
  runtime::Shard* direct(runtime::ShardLink& link);
  template <typename Callback, typename Fill>
  Result<CallToken> begin(const Address& server, const CallOptions& options, Callback done, Fill&& fill,
                          std::size_t length);
  bool reserve_pending(runtime::ShardLink& link);
  Result<CallToken> launch(runtime::ShardLink& link, runtime::Shard* shard, runtime::Operation& operation,
                           CallToken token);
  void discard(runtime::ShardLink& link, runtime::Shard* shard, runtime::Operation& operation);

  const std::uint64_t max_message_length_;
  const std::uint32_t max_pending_calls_;
  std::unique_ptr<runtime::ShardGroup> shards_;
};

protocol::CallOptions to_protocol(const CallOptions& options, bool one_way);

template <typename Callback, typename Fill>
Result<CallToken> ClientCore::begin(const Address& server, const CallOptions& options, Callback done, Fill&& fill,
                                    std::size_t length) {
  if (length > max_message_length_) return ErrorCode::too_long;
  if (!server.can_be_peer()) return runtime::call_error(ErrorCode::no_address, server);
  const std::size_t chosen = shards_->choose();
  runtime::ShardLink& link = shards_->link(chosen);
  if (!reserve_pending(link)) return ErrorCode::would_block;
  runtime::Shard* shard = direct(link);
  runtime::Operation& operation = shard != nullptr ? *link.operations.take_local() : *link.operations.take_shared();
  operation.counted = true;
  operation.server = server;
  operation.options = to_protocol(options, std::is_same_v<Callback, runtime::Operation::OneWayCallback>);
  operation.done = std::move(done);
  fill(operation);
  CallToken token;
  token.shard = static_cast<std::uint32_t>(chosen);
  token.index = operation.index;
  token.generation = operation.generation.load(std::memory_order_relaxed);
  return launch(link, shard, operation, token);
}

}  // namespace homa::api
