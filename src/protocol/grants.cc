#include "protocol/grants.h"

#include <algorithm>

#include "protocol/budget.h"

namespace homa::protocol {

GrantScheduler::GrantScheduler(const Config& config)
    : overcommitment_(std::max<std::uint8_t>(config.overcommitment, 1)),
      oldest_share_(config.oldest_share),
      shared_(config.shared_incoming) {
  active_.reserve(overcommitment_);
}

// A host with fewer active messages comes first: one message per sender, then seconds.
bool GrantScheduler::BetterHost::operator()(const Host& a, const Host& b) const {
  const InMessage& best_a = *a.waiting.top();
  const InMessage& best_b = *b.waiting.top();
  if (best_a.stalled != best_b.stalled) return best_b.stalled;
  if (a.active != b.active) return a.active < b.active;
  return GrantOrder()(best_a, best_b);
}

void GrantScheduler::add(InMessage& message) {
  HOMA_ASSERT(message.host != nullptr && message.authorised < message.length);
  if (contains(message)) return;
  ages_.push(message);
  enqueue(message);
}

void GrantScheduler::remove(InMessage& message) {
  if (!contains(message)) return;
  ages_.remove(message);
  if (message.active) {
    deactivate(message);
  } else {
    dequeue(message);
  }
}

void GrantScheduler::reorder(InMessage& message) {
  if (!contains(message)) return;
  if (!message.active) {
    message.host->waiting.update(message);
    refresh_host(*message.host);
    return;
  }
  // Few are active, and a message that got bytes only moves up: bubble it to its place.
  auto at = std::find(active_.begin(), active_.end(), &message);
  while (at != active_.begin() && GrantOrder()(**at, **(at - 1))) {
    std::iter_swap(at, at - 1);
    --at;
  }
  while (at + 1 != active_.end() && GrantOrder()(**(at + 1), **at)) {
    std::iter_swap(at, at + 1);
    ++at;
  }
}

void GrantScheduler::stall(InMessage& message) {
  forget_incoming(message);
  if (message.stalled || !contains(message)) {
    message.stalled = true;
    return;
  }
  if (message.active) {
    deactivate(message);
    message.stalled = true;
    enqueue(message);
  } else {
    message.stalled = true;
    reorder(message);
  }
}

void GrantScheduler::count_incoming(InMessage& message) {
  const std::uint64_t wanted =
      message.authorised > message.received_bytes ? message.authorised - message.received_bytes : 0;
  if (wanted > message.counted_incoming) {
    total_incoming_ += wanted - message.counted_incoming;
    if (shared_ != nullptr) shared_->force(wanted - message.counted_incoming);
  } else {
    total_incoming_ -= message.counted_incoming - wanted;
    if (shared_ != nullptr) shared_->give(message.counted_incoming - wanted);
  }
  message.counted_incoming = wanted;
}

void GrantScheduler::forget_incoming(InMessage& message) {
  total_incoming_ -= message.counted_incoming;
  if (shared_ != nullptr) shared_->give(message.counted_incoming);
  message.counted_incoming = 0;
}

std::uint64_t GrantScheduler::next_step(const InMessage& message, const GrantSettings& settings,
                                        std::uint64_t allowance) const {
  return step_to(message, message.received_bytes + message.window, settings, allowance);
}

// How far towards `target` the totals let it go; 0 rather than a crumb.
std::uint64_t GrantScheduler::step_to(const InMessage& message, std::uint64_t target, const GrantSettings& settings,
                                      std::uint64_t allowance) const {
  target = std::min(target, message.length);
  if (target <= message.authorised) return 0;
  std::uint64_t room = settings.max_incoming > total_incoming_ ? settings.max_incoming - total_incoming_ : 0;
  if (shared_ != nullptr) room = std::min(room, shared_->room());
  // What a stalled message may send already was taken out of the totals; with a new grant it counts again.
  const std::uint64_t outstanding =
      message.authorised > message.received_bytes ? message.authorised - message.received_bytes : 0;
  room -= std::min(room, outstanding - std::min(outstanding, message.counted_incoming));
  std::uint64_t step = std::min({target - message.authorised, room, allowance});
  if (settings.whole_packet != 0) {
    const std::uint64_t packets = (step + settings.whole_packet - 1) / settings.whole_packet;
    step = std::min(packets * settings.whole_packet, message.length - message.authorised);
  }
  const bool is_rest = message.authorised + step == message.length;
  return step >= settings.smallest_step || is_rest ? step : 0;
}

void GrantScheduler::authorise(InMessage& message, std::uint64_t step, Priority priority) {
  message.authorised += step;
  message.granted_priority = priority;
  count_incoming(message);
}

// M messages on S levels: M <= S use the M lowest levels, the best message the highest of those; else the S - 1 best
// get a level each and the rest share the lowest (SIGCOMM'18 section 3.4).
Priority GrantScheduler::level_of_rank(std::size_t rank, std::size_t active, const GrantSettings& settings) {
  const std::size_t levels = std::max<std::size_t>(settings.scheduled_levels, 1);
  const std::size_t top = std::min(active, levels) - 1;
  const std::size_t above_lowest = rank < top ? top - rank : 0;
  return Priority{static_cast<std::uint8_t>(settings.lowest_level + above_lowest)};
}

// Worst by (how many better ones its host has among the active, order).
std::size_t GrantScheduler::worst_active(std::uint32_t& rank_in_host) const {
  std::size_t worst = 0;
  rank_in_host = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    std::uint32_t rank = 0;
    for (std::size_t j = 0; j < i; ++j) rank += active_[j]->host == active_[i]->host ? 1u : 0u;
    const bool stalled_more = active_[i]->stalled && !active_[worst]->stalled;
    const bool stalled_less = !active_[i]->stalled && active_[worst]->stalled;
    if (stalled_more || (!stalled_less && rank >= rank_in_host)) {
      worst = i;
      rank_in_host = rank;
    }
  }
  return worst;
}

// A host's active messages are its best ones. Else a host that waits in vain would hide, at the top of the heap, a
// short message behind a long one of the same host.
void GrantScheduler::prefer_shorter_of_same_host() {
  for (std::size_t i = active_.size(); i-- > 0;) {
    InMessage& active = *active_[i];
    InMessage* candidate = active.host->waiting.top();
    if (candidate == nullptr || !GrantOrder()(*candidate, active)) continue;
    deactivate(active);
    dequeue(*candidate);
    activate(*candidate);
    enqueue(active);
    i = active_.size();  // places have moved; each exchange improves on the last, so this ends
  }
}

void GrantScheduler::fill_active() {
  prefer_shorter_of_same_host();
  while (!hosts_.empty()) {
    Host& host = *hosts_.top();
    InMessage& candidate = *host.waiting.top();
    if (active_.size() < overcommitment_) {
      dequeue(candidate);
      activate(candidate);
      continue;
    }
    std::uint32_t worst_rank = 0;
    InMessage& worst = *active_[worst_active(worst_rank)];
    // The candidate's rank counts the active messages of its host that are better than itself.
    std::uint32_t candidate_rank = 0;
    for (const InMessage* active : active_) {
      if (active->host == &host && GrantOrder()(*active, candidate)) ++candidate_rank;
    }
    bool better = false;
    if (candidate.stalled != worst.stalled) {
      better = worst.stalled;
    } else if (worst.host == &host) {
      better = GrantOrder()(candidate, worst);
    } else {
      better = candidate_rank != worst_rank ? candidate_rank < worst_rank : GrantOrder()(candidate, worst);
    }
    if (!better) return;
    deactivate(worst);
    dequeue(candidate);
    activate(candidate);
    enqueue(worst);
  }
}

void GrantScheduler::retire_authorised() {
  for (std::size_t i = active_.size(); i-- > 0;) {
    if (active_[i]->authorised >= active_[i]->length) remove(*active_[i]);
  }
  while (!ages_.empty() && ages_.top()->authorised >= ages_.top()->length) remove(*ages_.top());
}

void GrantScheduler::activate(InMessage& message) {
  message.active = true;
  ++message.host->active;
  if (Heap<Host, &Host::host_hook, BetterHost>::contains(*message.host)) hosts_.update(*message.host);
  active_.insert(std::upper_bound(active_.begin(), active_.end(), &message,
                                  [](const InMessage* a, const InMessage* b) { return GrantOrder()(*a, *b); }),
                 &message);
}

void GrantScheduler::deactivate(InMessage& message) {
  active_.erase(std::find(active_.begin(), active_.end(), &message));
  message.active = false;
  --message.host->active;
  if (Heap<Host, &Host::host_hook, BetterHost>::contains(*message.host)) hosts_.update(*message.host);
}

void GrantScheduler::enqueue(InMessage& message) {
  message.host->waiting.push(message);
  refresh_host(*message.host);
}

void GrantScheduler::dequeue(InMessage& message) {
  message.host->waiting.remove(message);
  refresh_host(*message.host);
}

void GrantScheduler::refresh_host(Host& host) {
  using Hosts = Heap<Host, &Host::host_hook, BetterHost>;
  if (host.waiting.empty()) {
    if (Hosts::contains(host)) {
      // The heap must not compare a host without messages: removal only compares the others.
      hosts_.remove(host);
    }
  } else if (Hosts::contains(host)) {
    hosts_.update(host);
  } else {
    hosts_.push(host);
  }
}

}  // namespace homa::protocol
