#include "runtime/operation_pool.h"

namespace homa::runtime {

Operation* OperationPool::take_local() {
  if (local_ == nullptr) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < kBatch; ++i) {
      if (shared_ == nullptr) grow();
      push(local_, pop(shared_));
      ++local_count_;
    }
  }
  --local_count_;
  return pop(local_);
}

void OperationPool::give_local(Operation* operation) {
  end_use(operation);
  push(local_, operation);
  if (++local_count_ < 2 * kBatch) return;
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < kBatch; ++i) push(shared_, pop(local_));
  local_count_ -= kBatch;
}

Operation* OperationPool::take_shared() {
  const std::lock_guard lock(mutex_);
  if (shared_ == nullptr) grow();
  return pop(shared_);
}

void OperationPool::give_shared(Operation* operation) {
  end_use(operation);
  const std::lock_guard lock(mutex_);
  push(shared_, operation);
}

Operation* OperationPool::find(std::uint32_t index, std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  if (index / kChunk >= chunks_.size()) return nullptr;
  Operation* operation = &chunks_[index / kChunk][index % kChunk];
  return operation->generation.load(std::memory_order_relaxed) == generation ? operation : nullptr;
}

void OperationPool::end_use(Operation* operation) {
  operation->clear();
  operation->generation.fetch_add(1, std::memory_order_relaxed);
}

void OperationPool::grow() {
  chunks_.push_back(std::make_unique<Operation[]>(kChunk));
  for (std::size_t i = kChunk; i-- > 0;) {
    Operation* operation = &chunks_.back()[i];
    operation->index = static_cast<std::uint32_t>((chunks_.size() - 1) * kChunk + i);
    push(shared_, operation);
  }
}

void OperationPool::push(Operation*& list, Operation* operation) {
  operation->next = list;
  list = operation;
}

Operation* OperationPool::pop(Operation*& list) {
  Operation* operation = list;
  list = operation->next;
  return operation;
}

}  // namespace homa::runtime
