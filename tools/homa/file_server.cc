#include "file_server.h"

#include <algorithm>
#include <array>
#include <utility>

namespace homa::tools {

FileServer::FileServer(const FileTree& tree, ServeTally& tally, std::uint64_t max_message, std::uint64_t budget)
    : tree_(tree), tally_(tally), max_message_(max_message), budget_(std::max(budget, max_message)), reader_([this] {
        run();
      }) {}

FileServer::~FileServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  reader_.join();
}

void FileServer::answer(Request request) {
  const std::string_view path = request.message().text();
  OpenResult opened = tree_.open(path, max_message_);
  if (!opened.ok()) return tally_.refuse(request, path, opened.refusal);
  const std::size_t size = opened.file.size();
  if (size <= kAtOnce && try_take(size)) return send(request, opened.file);
  {
    // Not the open file: descriptors are scarcer than requests.
    const std::lock_guard lock(mutex_);
    waiting_.emplace(std::pair(size, arrived_++), std::move(request));
  }
  changed_.notify_all();
}

void FileServer::run() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] {
      return stopping_ || (!waiting_.empty() && in_memory_ + waiting_.begin()->first.first <= budget_);
    });
    if (stopping_) return;
    auto first = waiting_.extract(waiting_.begin());
    const std::size_t size = first.key().first;
    in_memory_ += size;
    lock.unlock();
    answer_late(first.mapped(), size);
  }
}

void FileServer::answer_late(Request& request, std::size_t size) {
  if (request.cancelled()) return give_back(size);
  const std::string_view path = request.message().text();
  OpenResult opened = tree_.open(path, max_message_);
  if (opened.ok() && opened.file.size() > size) opened.refusal = "it grew while it waited for memory";
  if (!opened.ok()) {
    tally_.refuse(request, path, opened.refusal);
    return give_back(size);
  }
  give_back(size - opened.file.size());  // it may have shrunk
  send(request, opened.file);
}

void FileServer::send(Request& request, const OpenFile& file) {
  FileContent content = file.read();
  const std::size_t size = file.size();
  if (!content.ok()) {
    tally_.refuse(request, request.message().text(), content.refusal);
    return give_back(size);
  }
  tally_.answering(size);
  const std::array<Bytes, 1> piece = {Bytes(content.data.get(), size)};
  request.reply(Gather{piece, [this, size, data = std::move(content.data)]() mutable {
                         data.reset();
                         give_back(size);
                       }});
}

bool FileServer::try_take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (in_memory_ + bytes > budget_) return false;
  in_memory_ += bytes;
  return true;
}

void FileServer::give_back(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    in_memory_ -= bytes;
  }
  changed_.notify_all();
}

}  // namespace homa::tools
