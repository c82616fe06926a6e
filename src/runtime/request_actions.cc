// What a Request of the public API can do, from any thread: directly inside the shard's turn, else by command.
#include <utility>

#include "runtime/shard.h"

namespace homa::runtime {
namespace {

/// Fills an operation by `fill` and sends it as the answer.
template <typename Fill>
void answer(RequestRecord& record, Fill&& fill) {
  ShardLink& link = *record.link;
  Shard* shard = link.shard_in_turn();
  Operation* operation = shard != nullptr ? link.operations.take_local() : link.operations.take_shared();
  fill(*operation);
  if (record.one_way || std::exchange(record.answered, true)) {
    operation->release_payload();
  } else if (shard != nullptr) {
    shard->reply(record.id, *operation);
    return;
  } else {
    Command command;
    command.kind = Command::Kind::reply;
    command.request = record.id;
    command.operation = operation;
    if (link.post(std::move(command))) return;
    operation->release_payload();  // the shard has ended: the caller was told so
  }
  shard != nullptr ? link.operations.give_local(operation) : link.operations.give_shared(operation);
}

}  // namespace

void reply(RequestRecord& record, Bytes response) {
  answer(record, [&](Operation& operation) { operation.send_copy(response); });
}

void reply(RequestRecord& record, Gather response) {
  answer(record, [&](Operation& operation) {
    operation.send_pieces(response.pieces);
    operation.released = std::move(response.released);
  });
}

void reply(RequestRecord& record, Message&& response) {
  answer(record, [&](Operation& operation) { operation.send_message(std::move(response)); });
}

void refuse(RequestRecord& record, protocol::CallStatus reason) {
  if (record.one_way || std::exchange(record.answered, true)) return;
  if (Shard* shard = record.link->shard_in_turn()) {
    shard->refuse(record.id, reason);
    return;
  }
  Command command;
  command.kind = Command::Kind::refuse;
  command.request = record.id;
  command.reason = reason;
  static_cast<void>(record.link->post(std::move(command)));  // an ended shard has told the caller
}

bool is_cancelled(const RequestRecord& record) {
  if (record.link->closed()) return true;
  return record.cancelled_generation != nullptr &&
         record.cancelled_generation->load(std::memory_order_relaxed) == record.id.generation;
}

void release_request(RequestRecord& record) {
  refuse(record, protocol::CallStatus::refused);
  record.message.reset();
  ShardLink* link = std::exchange(record.link, nullptr);
  link->requests.give(&record);
  link->drop_reference();
}

}  // namespace homa::runtime
