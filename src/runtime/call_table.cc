#include "runtime/call_table.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "runtime/call_status.h"

namespace homa::runtime {

using protocol::CallStatus;
using protocol::StartError;

namespace {

Operation* operation_of(std::uint64_t cookie) {
  return reinterpret_cast<Operation*>(static_cast<std::uintptr_t>(cookie));
}

std::uint64_t cookie_of(const Operation& operation) {
  return reinterpret_cast<std::uintptr_t>(&operation);
}

}  // namespace

StartError CallTable::try_start(Operation& operation, Time now) {
  if (!waiting_.empty() && others_wait_for(operation.server)) return StartError::would_block;
  operation.payload.cookie = operation.options.cookie = cookie_of(operation);
  const protocol::StartResult result = endpoint_.start(operation.server, operation.payload, operation.options, now);
  if (protocol::is_back_pressure(result.error)) blocked_ = true;
  if (result.error != StartError::none) return result.error;
  operation.call = result.call;
  operation.call_open = operation.payload_open = true;
  link_up(operation);
  return StartError::none;
}

void CallTable::start(Operation& operation, Time now) {
  const StartError error = try_start(operation, now);
  if (error == StartError::none) return;
  if (protocol::is_back_pressure(error)) {
    waiting_.push_back(&operation);
    earliest_waiting_deadline_ = std::min(earliest_waiting_deadline_, operation.options.deadline);
    return;
  }
  fail(operation, error_code(error));
}

void CallTable::cancel(std::uint32_t index, std::uint64_t generation, Time now) {
  Operation* operation = link_.operations.find(index, generation);
  if (operation == nullptr) return;
  if (operation->call_open) {
    endpoint_.cancel(operation->call, now);
    return;
  }
  const auto waiting = std::find(waiting_.begin(), waiting_.end(), operation);
  if (waiting == waiting_.end()) return;
  waiting_.erase(waiting);
  fail(*operation, ErrorCode::cancelled);
}

bool CallTable::reply(protocol::RequestId request, Operation& operation, Time now) {
  operation.payload.cookie = cookie_of(operation);
  const bool open = endpoint_.reply(request, operation.payload, now);
  if (open) {
    operation.payload_open = true;
    link_up(operation);
  } else {
    settle(operation);
  }
  return open;
}

void CallTable::on_call_finished(const protocol::Event& event) {
  Operation& operation = *operation_of(event.cookie);
  operation.call_open = false;
  finish(operation, event);
  if (!operation.payload_open) {
    unlink(operation);
    settle(operation);
  }
}

void CallTable::on_payload_released(const protocol::Event& event) {
  Operation& operation = *operation_of(event.payload_cookie);
  operation.payload_open = false;
  if (operation.call_open) {
    operation.release_payload();  // a large request is no longer needed while its response is awaited
  } else {
    unlink(operation);
    settle(operation);
  }
}

void CallTable::on_writable(const protocol::Event& event, Time now) {
  blocked_ = false;
  // One pass in order; those that still find no room stay, in order.
  std::deque<Operation*> others;
  others.swap(waiting_);
  const bool anybody = event.peer.port == 0;
  bool room = true;
  for (Operation* operation : others) {
    if (!room || !(anybody || operation->server == event.peer)) {
      waiting_.push_back(operation);
      continue;
    }
    const StartError error = try_start(*operation, now);
    if (protocol::is_back_pressure(error)) {
      // Room in the table is used up by the first that finds none; what one peer has no room for says nothing of
      // others.
      room = anybody && error == StartError::would_block;
      waiting_.push_back(operation);
    } else if (error != StartError::none) {
      fail(*operation, error_code(error));
    }
  }
}

void CallTable::expire(Time now) {
  if (now < earliest_waiting_deadline_) return;
  std::deque<Operation*> others;
  others.swap(waiting_);
  earliest_waiting_deadline_ = kNever;
  for (Operation* operation : others) {
    if (operation->options.deadline <= now) {
      fail(*operation, ErrorCode::deadline_exceeded);
    } else {
      earliest_waiting_deadline_ = std::min(earliest_waiting_deadline_, operation->options.deadline);
      waiting_.push_back(operation);
    }
  }
}

void CallTable::fail(Operation& operation, ErrorCode code) {
  if (auto* outcome = std::get_if<Outcome>(&operation.done)) {
    outcome->started = false;
    outcome->not_started = code;
  } else if (auto* response = std::get_if<Operation::ResponseCallback>(&operation.done)) {
    if (*response) (*response)(call_error(code, operation.server));
  } else if (auto* one_way = std::get_if<Operation::OneWayCallback>(&operation.done)) {
    if (*one_way) (*one_way)(call_error(code, operation.server));
  }
  settle(operation);
}

void CallTable::end_waiting() {
  std::deque<Operation*> all;
  all.swap(waiting_);
  earliest_waiting_deadline_ = kNever;
  for (Operation* operation : all) fail(*operation, ErrorCode::shut_down);
}

void CallTable::end_all() {
  end_waiting();
  protocol::Event end;
  end.status = CallStatus::shut_down;
  while (under_way_ != nullptr) {
    Operation& operation = *under_way_;
    unlink(operation);
    operation.payload_open = false;
    if (std::exchange(operation.call_open, false)) finish(operation, end);
    settle(operation);
  }
}

void CallTable::link_up(Operation& operation) {
  operation.previous = nullptr;
  operation.next = under_way_;
  if (under_way_ != nullptr) under_way_->previous = &operation;
  under_way_ = &operation;
}

void CallTable::unlink(Operation& operation) {
  (operation.previous != nullptr ? operation.previous->next : under_way_) = operation.next;
  if (operation.next != nullptr) operation.next->previous = operation.previous;
  operation.next = operation.previous = nullptr;
}

void CallTable::finish(Operation& operation, const protocol::Event& end) {
  Message response = link_.hand_out(end.message);
  if (auto* outcome = std::get_if<Outcome>(&operation.done)) {
    outcome->status = end.status;
    outcome->traffic = end.traffic;
    outcome->response = std::move(response);
    return;
  }
  if (operation.counted) {
    operation.counted = false;
    link_.pending.fetch_sub(1, std::memory_order_relaxed);
  }
  // Moved out first: the callback may start calls and so reach this table again.
  if (auto* to_call = std::get_if<Operation::ResponseCallback>(&operation.done)) {
    Operation::ResponseCallback callback = std::move(*to_call);
    if (!callback) return;
    if (end.status == CallStatus::ok) {
      callback(std::move(response));
    } else {
      callback(call_error(error_code(end.status), operation.server, end.traffic));
    }
  } else if (auto* to_tell = std::get_if<Operation::OneWayCallback>(&operation.done)) {
    Operation::OneWayCallback callback = std::move(*to_tell);
    if (!callback) return;
    if (end.status == CallStatus::ok) {
      callback({});
    } else {
      callback(call_error(error_code(end.status), operation.server, end.traffic));
    }
  }
}

/// Nothing refers to the operation any more, except a blocked caller.
void CallTable::settle(Operation& operation) {
  operation.release_payload();
  if (std::exchange(operation.counted, false)) link_.pending.fetch_sub(1, std::memory_order_relaxed);
  if (std::holds_alternative<Outcome>(operation.done)) {
    // The caller may recycle the operation as soon as it sees the 1; its memory stays, so notifying is safe.
    operation.ended.store(1, std::memory_order_release);
    operation.ended.notify_one();
    return;
  }
  link_.operations.give_local(&operation);
}

bool CallTable::others_wait_for(const Address& server) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&](const Operation* other) { return other->server == server; });
}

}  // namespace homa::runtime
