// All operations of one shard, recycled.
//
// Threads: *_local() on the shard's thread (one at a time), *_shared() on any. The two sides exchange operations in
// batches, so the shard's thread takes the lock rarely. Ownership: the pool owns the operations for its whole life.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/operation.h"

namespace homa::runtime {

class OperationPool {
 public:
  Operation* take_local();
  void give_local(Operation* operation);
  Operation* take_shared();
  void give_shared(Operation* operation);

  /// The operation with this index, if it is still in that use; else null.
  Operation* find(std::uint32_t index, std::uint64_t generation);

 private:
  static constexpr std::size_t kChunk = 64;
  static constexpr std::size_t kBatch = 32;

  static void end_use(Operation* operation);
  void grow();  // under the lock
  void push(Operation*& list, Operation* operation);
  static Operation* pop(Operation*& list);

  Operation* local_ = nullptr;
  std::size_t local_count_ = 0;

  std::mutex mutex_;
  Operation* shared_ = nullptr;
  std::vector<std::unique_ptr<Operation[]>> chunks_;
};

}  // namespace homa::runtime
