#include "api/client_core.h"

#include <utility>

#include "api/configure.h"
#include "runtime/call_status.h"

namespace homa::api {

using runtime::Command;
using runtime::Operation;
using runtime::Outcome;
using runtime::Shard;
using runtime::ShardLink;

namespace {

/// A blocking call copies requests up to this size; larger ones are read in place, and the call returns only when the
/// protocol no longer reads them.
constexpr std::size_t kCopiedBytes = 1024;

Outcome not_started(ErrorCode code) {
  Outcome outcome;
  outcome.started = false;
  outcome.not_started = code;
  return outcome;
}

}  // namespace

protocol::CallOptions to_protocol(const CallOptions& options, bool one_way) {
  protocol::CallOptions result;
  result.deadline = to_time(options.deadline);
  result.message_class = options.message_class;
  result.idempotent = options.idempotent;
  result.one_way = one_way;
  return result;
}

Result<std::unique_ptr<ClientCore>> ClientCore::open(const ClientOptions& options) {
  Result<runtime::GroupSettings> settings = configure(options);
  if (!settings) return settings.error();
  Result<std::unique_ptr<runtime::ShardGroup>> shards = runtime::ShardGroup::open(*settings, nullptr);
  if (!shards) return shards.error();
  std::unique_ptr<ClientCore> core(new ClientCore(options));
  core->shards_ = std::move(*shards);
  return core;
}

Outcome ClientCore::run_blocking(const Address& server, std::span<const Bytes> pieces, const CallOptions& options,
                                 bool one_way) {
  ShardLink& link = shards_->link(shards_->choose());
  if (link.shard_in_turn() != nullptr) return not_started(ErrorCode::would_block);  // it would wait for itself
  Shard* shard = direct(link);
  Operation& operation = shard != nullptr ? *link.operations.take_local() : *link.operations.take_shared();
  operation.server = server;
  operation.options = to_protocol(options, one_way);
  operation.done = Outcome();
  if (pieces.size() == 1 && pieces[0].size() <= kCopiedBytes) {
    operation.send_copy(pieces[0]);
  } else {
    operation.send_pieces(pieces);
  }

  if (shard != nullptr) {
    shard->start(operation);
    while (operation.ended.load(std::memory_order_relaxed) == 0) shard->poll(Duration(-1));
  } else {
    Command command;
    command.kind = Command::Kind::start;
    command.operation = &operation;
    if (!link.post(std::move(command))) {
      link.operations.give_shared(&operation);
      return not_started(ErrorCode::shut_down);
    }
    while (operation.ended.load(std::memory_order_acquire) == 0) operation.ended.wait(0, std::memory_order_acquire);
  }
  Outcome outcome = std::move(std::get<Outcome>(operation.done));
  shard != nullptr ? link.operations.give_local(&operation) : link.operations.give_shared(&operation);
  return outcome;
}

void ClientCore::cancel(const CallToken& token) {
  if (token.shard >= shards_->size()) return;
  ShardLink& link = shards_->link(token.shard);
  if (Shard* shard = direct(link)) {
    shard->cancel(token.index, token.generation);
    return;
  }
  Command command;
  command.kind = Command::Kind::cancel;
  command.index = token.index;
  command.generation = token.generation;
  static_cast<void>(link.post(std::move(command)));  // a closed shard has ended all calls
}

void ClientCore::notify_writable(UniqueFunction<void()> ready) {
  ShardLink& link = shards_->link(shards_->choose());
  if (Shard* shard = direct(link)) {
    shard->notify_writable(std::move(ready), max_pending_calls_);
    return;
  }
  auto shared = std::make_shared<UniqueFunction<void()>>(std::move(ready));
  Command command;
  command.function = std::make_unique<UniqueFunction<void(Shard&)>>(
      [shared, limit = max_pending_calls_](Shard& there) { there.notify_writable(std::move(*shared), limit); });
  if (!link.post(std::move(command))) (*shared)();  // trying again will tell that the client is closed
}

bool ClientCore::poll(Duration timeout) {
  return shards_->caller_driven() && shards_->driven().poll(timeout);
}

int ClientCore::fd() {
  return shards_->caller_driven() ? shards_->driven().readiness_fd() : -1;
}

Shard* ClientCore::direct(ShardLink& link) {
  return shards_->caller_driven() ? &shards_->driven() : link.shard_in_turn();
}

bool ClientCore::reserve_pending(ShardLink& link) {
  if (link.pending.fetch_add(1, std::memory_order_relaxed) < max_pending_calls_) return true;
  link.pending.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

Result<CallToken> ClientCore::launch(ShardLink& link, Shard* shard, Operation& operation, CallToken token) {
  if (shard != nullptr) {
    const protocol::StartError error = shard->try_start(operation);
    if (error == protocol::StartError::none) return token;
    const Address server = operation.server;
    discard(link, shard, operation);
    // Met again and again under load, would_block stays cheap: no text.
    if (protocol::is_back_pressure(error)) return ErrorCode::would_block;
    return runtime::call_error(runtime::error_code(error), server);
  }
  Command command;
  command.kind = Command::Kind::start;
  command.operation = &operation;
  if (link.post(std::move(command))) return token;
  discard(link, shard, operation);
  return ErrorCode::shut_down;
}

/// Undoes begin(): nothing was started and no callback may run.
void ClientCore::discard(ShardLink& link, Shard* shard, Operation& operation) {
  link.pending.fetch_sub(1, std::memory_order_relaxed);
  operation.released.reset();
  operation.release_payload();
  shard != nullptr ? link.operations.give_local(&operation) : link.operations.give_shared(&operation);
}

}  // namespace homa::api
