#include "runtime/shard.h"

#include <algorithm>
#include <utility>

#include "net/clock.h"

namespace homa::runtime {

Shard::Shard(net::UdpSocket socket, ShardLink& link, const ShardSettings& settings, RequestObserver* observer)
    : link_(link),
      observer_(observer),
      socket_(std::move(socket)),
      endpoint_(settings.config, settings.seed, link.messages),
      receiver_(socket_, endpoint_, settings.config.shard, settings.siblings, counters_),
      transmitter_(socket_, endpoint_, settings.priorities, counters_),
      calls_(link, endpoint_),
      idle_(link, socket_.fd(), settings.wait, settings.spin),
      now_(net::now()) {}

Shard::~Shard() {
  finish();
}

bool Shard::turn() {
  const ShardLink::Turn turn(link_, *this);
  bool any = false;
  if (std::exchange(entered_, false)) {
    // What the application asked for between turns, a moment ago (enter()), goes before we look for what came.
    endpoint_.advance(now_);
    any |= transmitter_.pump(now_);
  }
  any |= receiver_.pump(now_);
  any |= run_commands();
  any |= collect_returned();
  calls_.expire(now_);
  endpoint_.advance(now_);
  any |= dispatch_events();
  any |= transmitter_.pump(now_);
  if (!writable_waiters_.empty()) run_writable_waiters();
  if (any) {
    ++counters_.turns;
    idle_.note_work(now_);
  }
  return any;
}

bool Shard::poll(Duration timeout) {
  bool any = turn();
  if (!any && timeout != Duration::zero()) {
    const Time until = timeout < Duration::zero() ? kNever : now_ + timeout;
    while (!any && now_ < until && !stopping_) {
      idle(until);
      any = turn();
    }
  }
  if (readiness_.has_value()) arm_readiness(any);
  return any;
}

void Shard::run() {
  while (!stopping_) {
    if (!turn()) idle(kNever);
  }
}

void Shard::finish() {
  if (std::exchange(finished_, true)) return;
  const ShardLink::Turn turn(link_, *this);
  stopping_ = true;
  now_ = net::now();
  link_.close(commands_);
  for (Command& command : commands_) run_command(command);
  commands_.clear();
  calls_.end_waiting();
  endpoint_.close(now_);
  for (int i = 0; i < kFarewellTurns; ++i) {
    const bool events = dispatch_events();
    if (!transmitter_.pump(now_) && !events) break;
  }
  calls_.end_all();
  for (WritableWaiter& waiter : writable_waiters_) waiter.ready();
  writable_waiters_.clear();
  collect_returned();
}

protocol::StartError Shard::try_start(Operation& operation) {
  if (finished_) return protocol::StartError::shut_down;
  enter();
  return calls_.try_start(operation, now_);
}

void Shard::start(Operation& operation) {
  if (finished_) {
    calls_.fail(operation, ErrorCode::shut_down);
    return;
  }
  enter();
  calls_.start(operation, now_);
}

void Shard::cancel(std::uint32_t index, std::uint64_t generation) {
  if (finished_) return;
  enter();
  calls_.cancel(index, generation, now_);
}

/// Between turns of a caller-driven shard the time is old, and the application's loop must learn of the work.
void Shard::enter() {
  if (link_.shard_in_turn() == this) return;
  now_ = net::now();
  entered_ = true;
  if (readiness_.has_value()) link_.signal_self();
}

void Shard::reply(protocol::RequestId request, Operation& operation) {
  if (!calls_.reply(request, operation, now_)) ++counters_.replies_dropped;
}

void Shard::refuse(protocol::RequestId request, protocol::CallStatus reason) {
  if (!endpoint_.refuse(request, reason, now_)) ++counters_.replies_dropped;
}

void Shard::notify_writable(UniqueFunction<void()> ready, std::uint32_t limit) {
  if (finished_) {
    ready();
  } else {
    writable_waiters_.push_back({std::move(ready), limit});
  }
}

int Shard::readiness_fd() {
  if (!readiness_.has_value()) {
    if (auto made = Readiness::create(socket_.fd(), link_.wakeup_fd())) readiness_.emplace(std::move(*made));
    if (readiness_.has_value()) arm_readiness(false);
  }
  return readiness_.has_value() ? readiness_->fd() : -1;
}

bool Shard::run_commands() {
  if (!link_.take(commands_)) return false;
  counters_.commands += commands_.size();
  for (Command& command : commands_) run_command(command);
  commands_.clear();
  return true;
}

void Shard::run_command(Command& command) {
  switch (command.kind) {
    case Command::Kind::start:
      calls_.start(*command.operation, now_);
      break;
    case Command::Kind::cancel:
      cancel(command.index, command.generation);
      break;
    case Command::Kind::reply:
      reply(command.request, *command.operation);
      break;
    case Command::Kind::refuse:
      refuse(command.request, command.reason);
      break;
    case Command::Kind::run:
      (*command.function)(*this);
      break;
  }
}

bool Shard::collect_returned() {
  return link_.messages.collect_returned([this](std::byte* data, std::uint64_t length) {
    endpoint_.release_message({data, length}, now_);
  });
}

bool Shard::dispatch_events() {
  int count = 0;
  protocol::Event event;  // not a member: handlers may call back into the shard
  while (count < kEventsPerTurn && endpoint_.next_event(event, now_)) {
    ++count;
    dispatch(event);
  }
  return count > 0;
}

void Shard::dispatch(const protocol::Event& event) {
  using Kind = protocol::Event::Kind;
  switch (event.kind) {
    case Kind::request:
    case Kind::one_way:
      on_request(event);
      break;
    case Kind::request_aborted:
      link_.cancellations.set(event.request);
      break;
    case Kind::call_finished:
      calls_.on_call_finished(event);
      break;
    case Kind::payload_released:
      calls_.on_payload_released(event);
      break;
    case Kind::writable:
      calls_.on_writable(event, now_);
      break;
  }
}

void Shard::on_request(const protocol::Event& event) {
  Message message = link_.hand_out(event.message);
  if (observer_ == nullptr || finished_) {
    if (event.kind == protocol::Event::Kind::request && !finished_) {
      refuse(event.request, protocol::CallStatus::no_handler);
    }
    return;
  }
  RequestRecord& record = *link_.requests.take();
  link_.add_reference();
  record.link = &link_;
  record.id = event.request;
  record.one_way = event.kind == protocol::Event::Kind::one_way;
  record.cancelled_generation = record.one_way ? nullptr : link_.cancellations.cell(event.request.index);
  record.message = std::move(message);
  record.peer = event.peer;
  record.deadline = event.deadline;
  record.message_class = event.message_class;
  record.idempotent = event.idempotent;
  record.answered = false;
  observer_->on_request(record);
}

void Shard::run_writable_waiters() {
  if (calls_.blocked()) return;
  std::vector<WritableWaiter> waiters;
  waiters.swap(writable_waiters_);
  for (WritableWaiter& waiter : waiters) {
    if (link_.pending.load(std::memory_order_relaxed) < waiter.limit) {
      waiter.ready();
    } else {
      writable_waiters_.push_back(std::move(waiter));
    }
  }
}

/// Messages given back by other threads normally wait for the next turn; once memory was short they wake the shard.
void Shard::notice_shortage() {
  const protocol::Counters& counters = endpoint_.counters();
  if (shortage_noticed_ || (counters.data_held == 0 && counters.holds_sent == 0)) return;
  shortage_noticed_ = true;
  link_.want_returns();
}

Time Shard::next_deadline() const {
  const Time endpoint = transmitter_.is_blocked() ? endpoint_.next_timer() : endpoint_.next_deadline();
  return std::min({endpoint, transmitter_.retry_at(), calls_.next_deadline()});
}

void Shard::idle(Time until) {
  if (idle_.spins(now_)) return;
  notice_shortage();
  const Idle::Woken woken = idle_.wait(now_, std::min(until, next_deadline()), transmitter_.wants_writable());
  counters_.sleeps += woken.slept ? 1 : 0;
  counters_.wakeups += woken.by_thread ? 1 : 0;
  if (woken.socket_error) receiver_.read_errors(net::now());
}

/// The application may sleep on the descriptor now, so other threads have to signal, and what is left to do must show.
void Shard::arm_readiness(bool more) {
  notice_shortage();
  readiness_->arm(next_deadline(), transmitter_.wants_writable());
  link_.end_sleep(true);
  if (!link_.prepare_sleep() || more) link_.signal_self();
}

}  // namespace homa::runtime
