// Answers requests for the files of a directory. A response must lie in memory until it is acknowledged, so memory is
// what is scarce here: files under way share a budget, and wait for it, the shortest first.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "file_tree.h"
#include "homa/server.h"
#include "serve_tally.h"

namespace homa::tools {

/// Threads: answer() from any. Ownership: outlives the Server whose requests it gets; refers to the tree and the tally.
class FileServer {
 public:
  /// `budget`: bytes of files in memory at a time; at least `max_message`, so that every file fits in the end.
  FileServer(const FileTree& tree, ServeTally& tally, std::uint64_t max_message, std::uint64_t budget);
  /// Requests that still wait are refused.
  ~FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  /// Answers, now or later. Does not block for longer than reading kAtOnce bytes takes.
  void answer(Request request);

 private:
  /// Files up to this size are read on the caller's thread, a shard's; longer ones would hold up its packets.
  static constexpr std::size_t kAtOnce = 64 * 1024;

  void run();
  /// One that has waited; `size` bytes of the budget are its own.
  void answer_late(Request& request, std::size_t size);
  /// As much of the budget as the file is long is its own.
  void send(Request& request, const OpenFile& file);
  bool try_take(std::size_t bytes);
  void give_back(std::size_t bytes);

  const FileTree& tree_;
  ServeTally& tally_;
  const std::uint64_t max_message_;
  const std::uint64_t budget_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t in_memory_ = 0;
  std::uint64_t arrived_ = 0;
  bool stopping_ = false;
  std::map<std::pair<std::size_t, std::uint64_t>, Request> waiting_;  ///< by length of the file, then by arrival
  std::thread reader_;
};

}  // namespace homa::tools
