// What is behind a Server: the shards, and the way of a request to the handler.
//
// Threads: on_request() on the shards' threads. Ownership: owns the shards; they are gone before the handler is.
#pragma once

#include <memory>

#include "homa/server.h"
#include "runtime/shard_group.h"

namespace homa::api {

class ServerCore final : public runtime::RequestObserver {
 public:
  static Result<std::unique_ptr<ServerCore>> start(const ServerOptions& options, Server::Handler handler);

  void on_request(runtime::RequestRecord& record) override { handler_(Request(&record)); }

  void run();
  bool poll(Duration timeout);
  int fd();
  void stop();
  runtime::ShardGroup& shards() { return *shards_; }

 private:
  explicit ServerCore(Server::Handler handler) : handler_(std::move(handler)) {}
  const Server::Handler handler_;
  std::unique_ptr<runtime::ShardGroup> shards_;
};

}  // namespace homa::api
