// Granting, and memory for messages that arrive.
#include <algorithm>

#include "protocol/core.h"

namespace homa::protocol {
namespace {

/// Window and total are a multiple of RTTbytes: the round trip measured is the smallest, software adds to it.
constexpr std::uint64_t kWindowGain = 2;
/// Never less than this many full packets per message, or batching in drivers starves the link.
constexpr std::uint64_t kWindowPackets = 16;
/// ... or of the size that this peer sends: a few of 9000 bytes take long to serialize.
constexpr std::uint64_t kWindowBigPackets = 8;
/// Grants are paced this much below a link rate that is configured (SIGCOMM'18: the downlink must not queue) ...
constexpr double kConfiguredPace = 0.98;
/// ... and above a measured one, which would spiral down otherwise; the windows bound the queue there.
constexpr double kMeasuredPace = 1.25;
constexpr std::uint64_t kPaceBurst = 8;
constexpr Duration kLongestPause = 2ms;
constexpr Duration kRateInterval = 500us;
constexpr Duration kLongestRateInterval = 500ms;
/// Small messages may overtake held ones.
constexpr std::uint64_t kSmallMessage = 64 * 1024;

}  // namespace

Duration Endpoint::Core::stall_timeout(const Association& association) const {
  return std::max(2 * association.top_rtt().smoothed() + config.max_ack_delay, kShortestStall);
}

void Endpoint::Core::watch_for_stall(Rpc& rpc, Time now) {
  if (config.fixed_policy.in_force()) return;
  timers_.set(rpc.in.stall_timer, now + stall_timeout(*rpc.association));
}

void Endpoint::Core::update_window(Association& association, InMessage& message) {
  if (config.fixed_policy.in_force()) {
    message.window = config.fixed_policy.window;
    return;
  }
  std::uint64_t window = config.unscheduled_bytes;
  if (downlink_.rate().known() && association.best_rtt > Duration::zero()) {
    window = kWindowGain * downlink_.rate().bytes_in(association.best_rtt);
  }
  window =
      std::max({window, kWindowPackets * config.initial_datagram, kWindowBigPackets * association.largest_received});
  message.window = std::min(window, config.max_incoming);
  latest_window_ = message.window;
}

// The rate at which bytes arrive while senders hold grants is that of the downlink. An interval counts only if bytes
// were owed to us all along and enough came to tell a rate; those that came with the first batch were on the way before
// it.
void Endpoint::Core::measure_downlink(std::uint64_t bytes, Time now) {
  if (config.fixed_policy.in_force()) return;
  if (grants_.total_incoming() == 0 || now - downlink_since_ > kLongestRateInterval) {
    downlink_since_ = now;
    downlink_bytes_ = 0;
    return;
  }
  if (now == downlink_since_) return;
  downlink_bytes_ += bytes;
  const Duration elapsed = now - downlink_since_;
  if (elapsed < kRateInterval || downlink_bytes_ < kWindowPackets * config.initial_datagram) return;
  downlink_.sample(Rate::of(downlink_bytes_, elapsed), now);
  downlink_since_ = now;
  downlink_bytes_ = 0;
}

void Endpoint::Core::queue_grant(Rpc& rpc) {
  Association& association = *rpc.association;
  rpc.in.grant_pending = true;
  if (!GrantQueue::contains(rpc)) association.grants.push_back(rpc);
  queue_control(association);
}

void Endpoint::Core::run_grants(Time now) {
  if (!grants_wanted_ || now < grant_clock_) return;
  grants_wanted_ = false;
  GrantSettings settings;
  // Unscheduled bytes on their way count too: while they fill what the granted ones may fill, grants wait.
  settings.max_incoming = std::min<std::uint64_t>(config.max_incoming, config.overcommitment * latest_window_);
  settings.smallest_step = 2u * config.initial_datagram;
  if (config.fixed_policy.in_force()) {
    settings.max_incoming = ~std::uint64_t{0};
    settings.smallest_step = 1;
    settings.whole_packet = config.initial_datagram - data_header_size(1);
  }
  settings.scheduled_levels = static_cast<std::uint8_t>(unscheduled_.scheduled_levels());
  settings.lowest_level = static_cast<std::uint8_t>(unscheduled_.lowest_level());
  const Rate rate = downlink_.rate();
  const double pace = downlink_.is_fixed() ? kConfiguredPace : kMeasuredPace;
  const std::uint64_t granted = grants_.run(settings, [&](InMessage& message) {
    Rpc& rpc = *static_cast<Rpc*>(message.stall_timer.owner);
    message.grant_sent = true;
    queue_grant(rpc);
    if (!TimerQueue::contains(message.stall_timer)) {
      message.last_arrival = now;
      watch_for_stall(rpc, now);
    }
  });
  if (!rate.known()) return;
  // A token bucket in units of time: the link may be fed ahead by one burst.
  const Rate paced = rate.scaled(pace);
  const Duration burst = paced.time_for(kPaceBurst * settings.smallest_step);
  // A rate measured while senders stood still says too little: it may slow grants down, never stop them.
  grant_clock_ = std::min(std::max(grant_clock_, now - burst) + paced.time_for(granted), now + kLongestPause);
  if (grant_clock_ > now) grants_wanted_ = grants_.wants_grants();
}

bool Endpoint::Core::find_memory(Rpc& rpc, Time) {
  InMessage& in = rpc.in;
  if (in.length == 0) {
    in.started = true;
    return true;
  }
  if (!held_.empty() && held_.front() != &rpc && in.length > kSmallMessage) return false;
  const bool shared = config.shared_receive_memory != nullptr;
  if (shared) {
    if (!config.shared_receive_memory->take(in.length)) return false;
  } else if (receive_memory_ + in.length > std::max(config.receive_memory, in.length)) {
    return false;
  }
  in.data = buffers_.allocate(in.length);
  if (in.data == nullptr) {
    if (shared) config.shared_receive_memory->give(in.length);
    return false;
  }
  receive_memory_ += in.length;
  in.started = true;
  return true;
}

void Endpoint::Core::free_message_memory(InMessage& message) {
  if (message.data == nullptr) return;
  buffers_.release(message.data, message.length);
  message.data = nullptr;
  if (defect(Defect::memory_not_returned)) return;
  receive_memory_ -= message.length;
  if (config.shared_receive_memory != nullptr) config.shared_receive_memory->give(message.length);
}

void Endpoint::Core::release_message(const Message& message, Time now) {
  if (message.data == nullptr) return;
  buffers_.release(message.data, message.length);
  receive_memory_ -= message.length;
  if (config.shared_receive_memory != nullptr) config.shared_receive_memory->give(message.length);
  retry_held(now);
}

// Memory came free: the message that has waited for it longest goes on, by a grant without HOLD.
void Endpoint::Core::retry_held(Time now) {
  if (defect(Defect::hold_not_released)) return;
  while (Rpc* rpc = held_.front()) {
    if (!find_memory(*rpc, now)) break;
    held_.remove(*rpc);
    rpc->in.held = false;
    rpc->in.last_arrival = now;
    update_window(*rpc->association, rpc->in);
    if (rpc->in.authorised < rpc->in.length) grants_.add(rpc->in);
    grants_wanted_ = true;
    queue_grant(*rpc);
  }
  // Memory shared with others may come free without our knowing.
  if (!held_.empty()) timers_.set_no_later(held_timer_, now + kHeldRetry);
}

// The message is not wanted any more, or was handed on.
void Endpoint::Core::stop_receiving(Rpc& rpc) {
  InMessage& in = rpc.in;
  grants_.remove(in);
  grants_.forget_incoming(in);
  timers_.cancel(in.stall_timer);
  if (in.held) held_.remove(rpc);
  in.held = false;
  in.grant_pending = false;
  if (rpc.association != nullptr) rpc.association->grants.discard(rpc);
  free_message_memory(in);
  grants_wanted_ = grants_wanted_ || grants_.wants_grants();
}

}  // namespace homa::protocol
