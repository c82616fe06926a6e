#include "testing/application.h"

#include <fmt/format.h>

#include <algorithm>

namespace homa::sim {

using protocol::Event;

Peer::Peer(int index, const Cast& cast, Ledger& ledger, Verdict& verdict, WireChecker& wire, const Workload& workload,
           std::uint64_t seed)
    : index_(index), cast_(cast), ledger_(ledger), verdict_(verdict), wire_(wire), workload_(workload), rng_(seed) {}

Duration Peer::up_to(Duration most) {
  return Duration(static_cast<Duration::rep>(rng_.unit() * static_cast<double>(most.count())));
}

void Peer::start() {
  if (workload_.targets.empty()) return;
  left_ = workload_.calls;
  EventLoop& loop = host().medium().loop;
  if (workload_.open_loop) return loop.at(workload_.begin + up_to(workload_.mean_gap), *this, kArrival);
  for (std::uint32_t i = 0; i < workload_.concurrency && i < left_; ++i) loop.at(workload_.begin, *this, kArrival);
}

// --- client ----------------------------------------------------------------------------------------------------

std::uint64_t Peer::draw_size() {
  std::uint64_t size = workload_.sizes[rng_.below(workload_.sizes.size())];
  if (size > 1'000'000 && rng_.chance(0.5)) size = workload_.sizes[rng_.below(workload_.sizes.size())];
  if (size > workload_.byte_budget) size = rng_.below(600);
  workload_.byte_budget -= std::min(size, workload_.byte_budget);
  return size;
}

CallRecord Peer::draw_call() {
  CallRecord record;
  record.server = workload_.targets[rng_.below(workload_.targets.size())];
  record.message_class = static_cast<std::uint8_t>(rng_.below(workload_.classes));
  record.request_length = draw_size();
  record.one_way = rng_.chance(workload_.one_way);
  if (rng_.chance(workload_.with_deadline)) record.deadline = now() + 100us + up_to(workload_.deadline);
  const bool cancels = rng_.chance(workload_.cancel);
  if (cancels) record.cancelled = now() + up_to(workload_.cancel_after);  // a wish, until done
  if (record.anonymous()) {
    record.response_length = record.request_length;
    return record;
  }
  record.idempotent = rng_.chance(workload_.idempotent);
  if (record.one_way) return record;
  record.response_length = draw_size();
  record.service_time = up_to(workload_.service_time);
  if (rng_.chance(workload_.reply_later)) record.behaviour = Behaviour::reply_later;
  if ((record.deadline != kNever || cancels) && rng_.chance(workload_.never)) record.behaviour = Behaviour::never;
  if (rng_.chance(workload_.refuse)) record.behaviour = Behaviour::refuse;
  return record;
}

bool Peer::try_start(const CallRecord& wish, Ledger::Index* index) {
  CallRecord record = wish;
  const Time cancel_at = record.cancelled;
  record.cancelled = kNever;
  record.client = index_;
  record.started = now();
  if (record.anonymous()) record.response_length = record.request_length;
  *index = ledger_.add(record);
  Host& target = *cast_.hosts[static_cast<std::size_t>(record.server)];
  const auto pieces = static_cast<std::uint32_t>(1 + rng_.below(workload_.max_pieces));
  const protocol::Payload& payload = host().payloads().make(record.request_length, ledger_.request_seed(*index),
                                                            ledger_.key(*index), true, pieces, rng_);
  protocol::CallOptions options;
  options.cookie = *index;
  options.deadline = record.deadline;
  options.message_class = record.message_class;
  options.idempotent = record.idempotent;
  options.one_way = record.one_way;
  wire_.initiated(host().address(), target.address());
  const protocol::StartResult result = host().endpoint().start(target.address(), payload, options, now());
  if (result.error != protocol::StartError::none) {
    ledger_.withdraw(*index);
    host().payloads().discard(payload.cookie);
    const bool expected =
        closed_ ? result.error == protocol::StartError::shut_down : protocol::is_back_pressure(result.error);
    if (!expected) {
      verdict_.fail("start", fmt::format("host {}: start() says {}", index_, protocol::to_string(result.error)));
    }
    return false;
  }
  open_[*index] = result.call;
  if (cancel_at != kNever) host().medium().loop.at(cancel_at, *this, kCancel, *index);
  return true;
}

void Peer::start_due() {
  if (!host().running()) return;
  while (due_ > 0 && !blocked_ && !winding_up_) {
    Ledger::Index index = 0;
    if (!try_start(draw_call(), &index)) {
      blocked_ = true;
      ++times_blocked_;
      return;
    }
    --due_;
  }
}

CallRecord* Peer::call(const CallRecord& wish, Ledger::Index* index) {
  Ledger::Index place = 0;
  const bool started = try_start(wish, &place);
  if (index != nullptr) *index = place;
  host().kick();
  return started ? &ledger_.at(place) : nullptr;
}

Ledger::Index Peer::probe(int target) {
  CallRecord record;
  record.server = target;
  record.request_length = 100;
  record.response_length = 100;
  Ledger::Index index = 0;
  call(record, &index);
  return index;
}

void Peer::close() {
  if (!host().running() || closed_) return;
  if (now() < host().paused_until()) {
    closing_ = true;
    return host().medium().loop.at(host().paused_until(), *this, kClose, host().lives());
  }
  closing_ = false;
  host().resume_reading();
  stop_starting();
  blocked_ = false;
  ledger_.closed(index_, now());
  host().endpoint().close(now());
  closed_ = true;
  host().kick();
  if (!ledger_.records()[probe((index_ + 1) % static_cast<int>(cast_.hosts.size()))].withdrawn) {
    verdict_.fail("close", fmt::format("host {}: a closed endpoint starts calls", index_));
  }
}

bool Peer::cancel(Ledger::Index index) {
  const auto at = open_.find(index);
  if (at == open_.end() || !host().running()) return false;
  if (!host().endpoint().cancel(at->second, now())) return false;
  ledger_.cancelled(index, now());
  host().kick();
  return true;
}

void Peer::on_finished(const Event& event) {
  if (open_.erase(event.cookie) == 0 && event.cookie >= ledger_.records().size()) {
    return verdict_.fail("ends_once", fmt::format("host {}: a call ended that never began", index_));
  }
  ledger_.finished(event.cookie, event, now());
  if (event.message.data != nullptr) keep_or_release(event.message);
  if (!workload_.open_loop && left_ > 0 && !winding_up_) host().medium().loop.after(Duration(0), *this, kArrival);
}

// --- server ----------------------------------------------------------------------------------------------------

void Peer::keep_or_release(const protocol::Message& message) {
  if (winding_up_ || message.data == nullptr || !rng_.chance(workload_.hold_message)) {
    return host().endpoint().release_message(message, now());
  }
  holding_[next_id_] = message;
  host().medium().loop.after(up_to(workload_.hold_time), *this, kGiveBack, next_id_++);
}

void Peer::on_request(const Event& event) {
  Owed owed;
  owed.request = event.request;
  owed.anonymous = event.message.length < 8;
  owed.length = event.message.length;
  const CallRecord* record = ledger_.delivered(index_, event, now(), &owed.index);
  Behaviour behaviour = Behaviour::reply_now;
  Duration delay{};
  if (record != nullptr) {
    behaviour = record->behaviour;
    delay = record->service_time;
    owed.length = record->response_length;
  }
  keep_or_release(event.message);
  if (event.kind == Event::Kind::one_way) return;
  owed.refuse = behaviour == Behaviour::refuse;
  if (behaviour == Behaviour::reply_now || owed.refuse || winding_up_) return answer(owed);
  owed_[next_id_] = owed;
  if (behaviour == Behaviour::reply_later) host().medium().loop.after(delay, *this, kReply, next_id_);
  ++next_id_;
}

void Peer::answer(const Owed& owed) {
  if (owed.refuse) {
    if (!owed.anonymous) ledger_.refused(owed.index);
    (void)host().endpoint().refuse(owed.request, protocol::CallStatus::refused, now());
    return;
  }
  const std::uint64_t seed = owed.anonymous ? kAnonymousResponse : ledger_.response_seed(owed.index);
  const auto pieces = static_cast<std::uint32_t>(1 + rng_.below(workload_.max_pieces));
  const protocol::Payload& payload = host().payloads().make(owed.length, seed, 0, false, pieces, rng_);
  if (!owed.anonymous) ledger_.replied(owed.index, now());
  if (!host().endpoint().reply(owed.request, payload, now())) host().payloads().discard(payload.cookie);
}

void Peer::on_aborted(const Event& event) {
  for (auto& [id, owed] : owed_) {
    if (!(owed.request == event.request)) continue;
    // The slot stays taken until we answer: at once or a little later, with or without a response.
    host().medium().loop.after(rng_.chance(0.5) ? Duration(0) : up_to(workload_.service_time), *this, kReply, id);
    return;
  }
}

void Peer::wind_up() {
  winding_up_ = true;
  if (!host().running()) return;
  for (const auto& [id, message] : holding_) host().endpoint().release_message(message, now());
  holding_.clear();
  auto owed = std::move(owed_);
  owed_.clear();
  for (const auto& [id, debt] : owed) answer(debt);
  host().kick();
}

void Peer::on_event(Host&, const Event& event) {
  switch (event.kind) {
    case Event::Kind::request:
    case Event::Kind::one_way:
      return on_request(event);
    case Event::Kind::request_aborted:
      return on_aborted(event);
    case Event::Kind::call_finished:
      return on_finished(event);
    case Event::Kind::payload_released:
      return;  // the host's store counts them
    case Event::Kind::writable:
      blocked_ = false;
      return start_due();
  }
}

void Peer::on_crash(Host&) {
  const std::uint64_t lost = workload_.open_loop ? 0 : open_.size();
  ledger_.abandon(index_);
  open_.clear();
  owed_.clear();
  holding_.clear();
  blocked_ = closing_ = false;
  // A closed loop goes on in the next life.
  for (std::uint64_t i = 0; i < std::min(lost, left_); ++i) host().medium().loop.after(5ms, *this, kArrival);
}

void Peer::on_event(std::uint8_t kind, std::uint64_t argument) {
  if (now() < host().paused_until()) return host().medium().loop.at(host().paused_until(), *this, kind, argument);
  if (kind == kArrival) {
    if (left_ == 0 || winding_up_) return;
    --left_;
    ++due_;
    if (workload_.open_loop) host().medium().loop.after(up_to(2 * workload_.mean_gap) + Duration(1), *this, kArrival);
    start_due();
    return host().kick();
  }
  if (!host().running()) return;
  if (kind == kClose && argument == host().lives()) return close();  // not the process that came after
  if (kind == kCancel) {
    cancel(argument);
    return;
  }
  if (kind == kReply) {
    const auto at = owed_.find(argument);
    if (at == owed_.end()) return;
    const Owed owed = at->second;
    owed_.erase(at);
    answer(owed);
  }
  if (kind == kGiveBack) {
    const auto at = holding_.find(argument);
    if (at == holding_.end()) return;
    host().endpoint().release_message(at->second, now());
    holding_.erase(at);
  }
  host().kick();
}

}  // namespace homa::sim
