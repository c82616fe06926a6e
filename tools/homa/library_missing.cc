// Stands in for the library where it is not part of the build: every use fails with a line that says so.
#include "homa/client.h"
#include "homa/server.h"

namespace homa {
namespace api {
class ClientCore {};
class ServerCore {};
}  // namespace api
namespace {
Error missing() {
  return {ErrorCode::system_error, "built without the library"};
}
}  // namespace

std::string Error::message() const {
  return detail_;
}
void Message::give_back() {}
Result<Client> Client::open(ClientOptions) {
  return missing();
}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;
Result<Message> Client::call(const Address&, Bytes, const CallOptions&) {
  return missing();
}
Result<CallToken> Client::call(const Address&, Bytes, const CallOptions&, ResponseCallback) {
  return missing();
}
Result<CallToken> Client::call(const Address&, Gather, const CallOptions&, ResponseCallback) {
  return missing();
}
void Client::cancel(CallToken) {}
bool Client::poll(Duration) {
  return false;
}
Stats Client::stats() const {
  return {};
}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;
Message& Request::message() {
  static Message empty;
  return empty;
}
const Address& Request::peer() const {
  static const Address nobody;
  return nobody;
}
void Request::reply(Gather) {}
void Request::reply(Message&&) {}
void Request::refuse(RefuseReason) {}
Result<Server> Server::start(ServerOptions, Handler) {
  return missing();
}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;
Address Server::address() const {
  return {};
}
bool Server::poll(Duration) {
  return false;
}
void Server::stop() {}
}  // namespace homa
