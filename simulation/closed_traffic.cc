#include "simulation/closed_traffic.h"

namespace homa::simulation {
namespace {

/// What a request for a response of another length looks like.
constexpr std::uint64_t kRequestBytes = 100;
constexpr std::uint64_t kLongMessage = 1'000'000;
/// The next one begins before the last one ends.
constexpr int kLongMessagesAtOnce = 2;

}  // namespace

void IncastTraffic::start() {
  missing_ = width_;
  for (std::uint32_t i = 0; i < width_; ++i) {
    starter_.start_message({0, 1 + i % (hosts_ - 1), response_bytes_, kRequestBytes});
  }
}

void IncastTraffic::delivered(const MessageRecord&) {
  if (--missing_ == 0) start();
}

void SaturatingTraffic::start() {
  for (int i = 0; i < kLongMessagesAtOnce; ++i) {
    send(hosts_.a);
    send(hosts_.b);
  }
}

void SaturatingTraffic::send(std::uint32_t source) {
  starter_.start_message({source, hosts_.c, kLongMessage, 0, false});
}

void SaturatingTraffic::delivered(const MessageRecord& record) {
  if (record.destination == hosts_.c) send(record.source);
}

}  // namespace homa::simulation
