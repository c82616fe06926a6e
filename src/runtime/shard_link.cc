#include "runtime/shard_link.h"

#include <utility>

namespace homa {

void Message::give_back() {
  std::exchange(owner_, nullptr)->give_back(data_);
}

namespace runtime {
namespace {

thread_local const ShardLink* link_in_turn = nullptr;
thread_local Shard* shard_in_turn_here = nullptr;

}  // namespace

bool ShardLink::post(Command&& command) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_.load(std::memory_order_relaxed)) return false;
    commands_.push_back(std::move(command));
    has_commands_.store(true, std::memory_order_seq_cst);
  }
  wake();
  return true;
}

bool ShardLink::take(std::vector<Command>& out) {
  out.clear();
  if (!has_commands_.load(std::memory_order_acquire)) return false;
  const std::lock_guard lock(mutex_);
  has_commands_.store(false, std::memory_order_relaxed);
  commands_.swap(out);  // both vectors keep their capacity: no allocation in steady state
  return !out.empty();
}

void ShardLink::close(std::vector<Command>& out) {
  const std::lock_guard lock(mutex_);
  closed_.store(true, std::memory_order_release);
  has_commands_.store(false, std::memory_order_relaxed);
  out.clear();
  commands_.swap(out);
}

// A waker first publishes its work, then looks at sleeping_; a sleeper first says that it sleeps, then looks for work.
// All four in one total order (seq_cst), so at least one of the two sees the other.
bool ShardLink::prepare_sleep() {
  sleeping_.store(true, std::memory_order_seq_cst);
  const bool returned = returns_wanted_.load(std::memory_order_relaxed) && messages.has_returned();
  if (!has_commands_.load(std::memory_order_seq_cst) && !returned) return true;
  end_sleep(false);
  return false;
}

// A signal that comes between the look and here is not lost: it makes the next sleep short, and is cleared then.
void ShardLink::end_sleep(bool signalled) {
  sleeping_.store(false, std::memory_order_seq_cst);
  if (signalled) wakeup_.clear();
}

void ShardLink::wake() {
  if (sleeping_.load(std::memory_order_seq_cst) && sleeping_.exchange(false, std::memory_order_seq_cst)) {
    wakeup_.signal();
  }
}

Message ShardLink::hand_out(const protocol::Message& message) {
  if (message.data == nullptr) return {};
  add_reference();
  return Message(message.data, message.length, this);
}

void ShardLink::give_back(std::byte* data) {
  messages.push_returned(data);
  if (returns_wanted_.load(std::memory_order_relaxed)) wake();
  drop_reference();
}

Shard* ShardLink::shard_in_turn() const {
  return link_in_turn == this ? shard_in_turn_here : nullptr;
}

ShardLink::Turn::Turn(const ShardLink& link, Shard& shard)
    : previous_link_(std::exchange(link_in_turn, &link)), previous_shard_(std::exchange(shard_in_turn_here, &shard)) {}

ShardLink::Turn::~Turn() {
  link_in_turn = previous_link_;
  shard_in_turn_here = previous_shard_;
}

}  // namespace runtime
}  // namespace homa
