#include "homa/client.h"

#include <utility>

#include "api/client_core.h"
#include "runtime/call_status.h"

namespace homa {
namespace {

Error error_of(const runtime::Outcome& outcome, const Address& server) {
  const ErrorCode code = outcome.started ? runtime::error_code(outcome.status) : outcome.not_started;
  return runtime::call_error(code, server, outcome.traffic);
}

bool is_ok(const runtime::Outcome& outcome) {
  return outcome.started && outcome.status == protocol::CallStatus::ok;
}

}  // namespace

Result<Client> Client::open(const ClientOptions& options) {
  Result<std::unique_ptr<api::ClientCore>> core = api::ClientCore::open(options);
  if (!core) return core.error();
  return Client(std::move(*core));
}

Client::Client(std::unique_ptr<api::ClientCore> core) : core_(std::move(core)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Message> Client::call(const Address& server, Bytes request, const CallOptions& options) {
  return call(server, std::span(&request, 1), options);
}

Result<Message> Client::call(const Address& server, std::span<const Bytes> request, const CallOptions& options) {
  runtime::Outcome outcome = core_->run_blocking(server, request, options, false);
  if (!is_ok(outcome)) return error_of(outcome, server);
  return std::move(outcome.response);
}

Result<void> Client::send_one_way(const Address& server, Bytes message, const CallOptions& options) {
  return send_one_way(server, std::span(&message, 1), options);
}

Result<void> Client::send_one_way(const Address& server, std::span<const Bytes> message, const CallOptions& options) {
  const runtime::Outcome outcome = core_->run_blocking(server, message, options, true);
  if (!is_ok(outcome)) return error_of(outcome, server);
  return {};
}

Result<CallToken> Client::call(const Address& server, Bytes request, const CallOptions& options,
                               ResponseCallback done) {
  return core_->start(server, request, options, std::move(done));
}

Result<CallToken> Client::call(const Address& server, Gather request, const CallOptions& options,
                               ResponseCallback done) {
  return core_->start(server, std::move(request), options, std::move(done));
}

Result<CallToken> Client::send_one_way(const Address& server, Bytes message, const CallOptions& options,
                                       OneWayCallback done) {
  return core_->start(server, message, options, std::move(done));
}

Result<CallToken> Client::send_one_way(const Address& server, Gather message, const CallOptions& options,
                                       OneWayCallback done) {
  return core_->start(server, std::move(message), options, std::move(done));
}

void Client::cancel(CallToken token) {
  core_->cancel(token);
}
void Client::notify_writable(UniqueFunction<void()> ready) {
  core_->notify_writable(std::move(ready));
}
bool Client::poll(Duration timeout) {
  return core_->poll(timeout);
}
int Client::fd() {
  return core_->fd();
}
std::uint64_t Client::max_message_length() const {
  return core_->max_message_length();
}
Address Client::local_address(unsigned shard) const {
  return core_->shards().local_address(shard);
}
Stats Client::stats() const {
  return core_->shards().stats();
}
void Client::close() {
  core_->close();
}

}  // namespace homa
