#include "homa/server.h"

#include <utility>

#include "api/configure.h"
#include "api/server_core.h"

namespace homa {
namespace api {

Result<std::unique_ptr<ServerCore>> ServerCore::start(const ServerOptions& options, Server::Handler handler) {
  if (!handler) return Error(ErrorCode::bad_option, "handler: empty");
  Result<runtime::GroupSettings> settings = configure(options);
  if (!settings) return settings.error();
  std::unique_ptr<ServerCore> core(new ServerCore(std::move(handler)));
  Result<std::unique_ptr<runtime::ShardGroup>> shards = runtime::ShardGroup::open(*settings, core.get());
  if (!shards) return shards.error();
  core->shards_ = std::move(*shards);
  return core;
}

void ServerCore::run() {
  if (!shards_->caller_driven()) return;
  shards_->driven().run();
  shards_->driven().finish();
}

bool ServerCore::poll(Duration timeout) {
  return shards_->caller_driven() && shards_->driven().poll(timeout);
}

int ServerCore::fd() {
  return shards_->caller_driven() ? shards_->driven().readiness_fd() : -1;
}

void ServerCore::stop() {
  if (!shards_->caller_driven()) {
    shards_->stop();
    return;
  }
  // Possibly from another thread than the one that drives: only a command may touch the shard.
  runtime::Command command;
  command.function =
      std::make_unique<UniqueFunction<void(runtime::Shard&)>>([](runtime::Shard& shard) { shard.request_stop(); });
  static_cast<void>(shards_->link(0).post(std::move(command)));  // false: it has stopped already
}

}  // namespace api

Result<Server> Server::start(const ServerOptions& options, Handler handler) {
  Result<std::unique_ptr<api::ServerCore>> core = api::ServerCore::start(options, std::move(handler));
  if (!core) return core.error();
  return Server(std::move(*core));
}

Server::Server(std::unique_ptr<api::ServerCore> core) : core_(std::move(core)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;

Address Server::address() const {
  return core_->shards().local_address(0);
}
Stats Server::stats() const {
  return core_->shards().stats();
}
void Server::run() {
  core_->run();
}
bool Server::poll(Duration timeout) {
  return core_->poll(timeout);
}
int Server::fd() {
  return core_->fd();
}
void Server::stop() {
  core_->stop();
}

}  // namespace homa
