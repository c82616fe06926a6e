#include <utility>

#include "api/configure.h"
#include "homa/server.h"
#include "runtime/shard.h"

namespace homa {

Request::Request(Request&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}

Request& Request::operator=(Request&& other) noexcept {
  if (this != &other) {
    if (record_ != nullptr) runtime::release_request(*record_);
    record_ = std::exchange(other.record_, nullptr);
  }
  return *this;
}

Request::~Request() {
  if (record_ != nullptr) runtime::release_request(*record_);
}

Message& Request::message() {
  return record_->message;
}
const Address& Request::peer() const {
  return record_->peer;
}
Clock::time_point Request::deadline() const {
  return api::to_time_point(record_->deadline);
}
std::uint8_t Request::message_class() const {
  return record_->message_class;
}
bool Request::is_idempotent() const {
  return record_->idempotent;
}
bool Request::is_one_way() const {
  return record_->one_way;
}
bool Request::cancelled() const {
  return runtime::is_cancelled(*record_);
}

void Request::reply(Bytes response) {
  runtime::reply(*record_, response);
}
void Request::reply(Gather response) {
  runtime::reply(*record_, std::move(response));
}
void Request::reply(Message&& response) {
  runtime::reply(*record_, std::move(response));
}
void Request::refuse(RefuseReason reason) {
  runtime::refuse(
      *record_, reason == RefuseReason::no_handler ? protocol::CallStatus::no_handler : protocol::CallStatus::refused);
}

}  // namespace homa
