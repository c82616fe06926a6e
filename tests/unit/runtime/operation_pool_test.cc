#include "runtime/operation_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>

namespace homa::runtime {
namespace {

TEST(OperationPool, RecyclesBetweenTheTwoSides) {
  OperationPool pool;
  std::set<Operation*> seen;
  // Taken by others, given back by the shard: the usual way of calls from foreign threads.
  for (int i = 0; i < 10'000; ++i) {
    Operation* operation = pool.take_shared();
    seen.insert(operation);
    pool.give_local(operation);
  }
  EXPECT_LE(seen.size(), 256u);
}

TEST(OperationPool, StaleTokensAreRecognised) {
  OperationPool pool;
  Operation* operation = pool.take_local();
  const std::uint32_t index = operation->index;
  const std::uint64_t generation = operation->generation;
  EXPECT_EQ(pool.find(index, generation), operation);
  pool.give_local(operation);
  EXPECT_EQ(pool.find(index, generation), nullptr);
  EXPECT_EQ(pool.find(1'000'000, generation), nullptr);
}

TEST(OperationPool, LiveOperationsAreDistinctAcrossThreads) {
  OperationPool pool;
  std::vector<Operation*> here;
  std::vector<Operation*> there;
  std::thread other([&] {
    for (int i = 0; i < 5000; ++i) there.push_back(pool.take_shared());
  });
  for (int i = 0; i < 5000; ++i) here.push_back(pool.take_local());
  other.join();
  std::set<Operation*> all(here.begin(), here.end());
  all.insert(there.begin(), there.end());
  EXPECT_EQ(all.size(), 10'000u);
}

TEST(Operation, GathersPiecesAndSkipsEmptyOnes) {
  Operation operation;
  const std::string text = "abcdef";
  const Bytes pieces[] = {as_bytes(text).first(2), {}, as_bytes(text).last(4)};
  operation.send_pieces(pieces);
  EXPECT_EQ(operation.payload.length, 6u);
  EXPECT_EQ(operation.payload.piece_count, 2u);
  std::vector<Bytes> many(1000, as_bytes(text));
  operation.send_pieces(many);
  EXPECT_EQ(operation.payload.length, 6000u);
  EXPECT_EQ(operation.payload.piece_count, 1000u);
}

TEST(Operation, CopyIsIndependentOfItsSource) {
  Operation operation;
  std::string text = "first";
  operation.send_copy(as_bytes(text));
  text = "other";
  ASSERT_EQ(operation.payload.piece_count, 1u);
  EXPECT_EQ(std::memcmp(operation.payload.pieces[0].data, "first", 5), 0);
}

TEST(Operation, ReleaseRunsOnce) {
  Operation operation;
  int released = 0;
  operation.released = [&] { ++released; };
  operation.release_payload();
  operation.release_payload();
  operation.clear();
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace homa::runtime
