#include "testing/faults.h"

#include <algorithm>

#include "testing/addresses.h"

namespace homa::sim {

std::size_t FaultInjector::add(const FaultRule& rule) {
  State state;
  state.rule = rule;
  states_.push_back(state);
  return states_.size() - 1;
}

bool FaultInjector::matches(State& state, const Parcel& parcel) const {
  const FaultRule& rule = state.rule;
  const Time now = medium_.loop.now();
  if (now < rule.begin || now >= rule.end) return false;
  if (rule.from && *rule.from != parcel.from.host) return false;
  if (rule.to && *rule.to != parcel.to.host) return false;
  if (rule.above_size != 0 && parcel.size() <= rule.above_size) return false;
  if (rule.kinds != kAnyKind && (parcel.kinds & rule.kinds) == 0) return false;
  return (parcel.kinds & rule.without_kinds) == 0;
}

bool FaultInjector::in_turn(State& state) const {
  const std::uint64_t turn = state.matched++;
  return turn >= state.rule.skip && turn - state.rule.skip < state.rule.count;
}

std::optional<DropReason> FaultInjector::fate(State& state) {
  const FaultRule& rule = state.rule;
  if (rule.burst_begin > 0) {
    state.in_burst = state.in_burst ? !rng_.chance(rule.burst_end) : rng_.chance(rule.burst_begin);
    if (state.in_burst) return DropReason::burst_loss;
  }
  if (rule.loss > 0 && rng_.chance(rule.loss)) return rule.reason;
  return std::nullopt;
}

void FaultInjector::copies(State& state, const Parcel& parcel) {
  const FaultRule& rule = state.rule;
  if (rule.duplicate > 0 && rng_.chance(rule.duplicate)) {
    Parcel* copy = medium_.pool.copy(parcel);
    copy->duplicate = true;
    send_later(copy, up_to(rule.duplicate_delay));
    ++state.acted;
  }
  if (rule.truncated_copy > 0 && rng_.chance(rule.truncated_copy)) {
    Parcel* copy = medium_.pool.copy(parcel);
    copy->bytes.resize(rng_.below(std::max<std::uint64_t>(parcel.size(), 1)));
    copy->hostile = true;
    copy->kinds = kUnreadable;
    send_later(copy, Duration(1));
    ++state.acted;
  }
  if (rule.foreign_copy > 0 && rng_.chance(rule.foreign_copy)) {
    Parcel* copy = medium_.pool.copy(parcel);
    copy->from = {foreign_address(parcel.from.host, static_cast<std::uint8_t>(rng_.below(250) + 1)),
                  static_cast<std::uint16_t>(1024 + rng_.below(60000))};
    copy->hostile = true;
    send_later(copy, up_to(rule.duplicate_delay));
    ++state.acted;
  }
}

void FaultInjector::send_later(Parcel* parcel, Duration delay) {
  medium_.loop.after(delay, *this, 0, reinterpret_cast<std::uintptr_t>(parcel));
}

void FaultInjector::receive(Parcel* parcel) {
  Duration delay{};
  for (State& state : states_) {
    if (!matches(state, *parcel) || !in_turn(state)) continue;
    if (!parcel->hostile) copies(state, *parcel);
    if (const auto reason = fate(state)) {
      ++state.acted;
      return medium_.drop(parcel, *reason);
    }
    const FaultRule& rule = state.rule;
    if (rule.corrupt > 0 && rng_.chance(rule.corrupt) && parcel->size() > 0) {
      parcel->bytes[rng_.below(parcel->size())] ^= static_cast<std::byte>(1u << rng_.below(8));
      parcel->corrupt = true;
      ++state.acted;
    }
    if (rule.reorder > 0 && rng_.chance(rule.reorder)) {
      delay += up_to(rule.reorder_delay);
      ++state.acted;
    }
    if (rule.extra_delay.count() > 0) {
      delay += rule.extra_delay;
      ++state.acted;
    }
  }
  if (delay.count() == 0) return next_.receive(parcel);
  send_later(parcel, delay);
}

void FaultInjector::on_event(std::uint8_t, std::uint64_t argument) {
  next_.receive(reinterpret_cast<Parcel*>(argument));
}

FaultRule lose(double probability, Time begin, Time end) {
  FaultRule rule;
  rule.loss = probability;
  rule.begin = begin;
  rule.end = end;
  return rule;
}

FaultRule drop_nth(std::uint32_t kinds, std::uint64_t skip, std::uint64_t count) {
  FaultRule rule;
  rule.kinds = kinds;
  rule.skip = skip;
  rule.count = count;
  rule.loss = 1;
  rule.reason = DropReason::chosen;
  return rule;
}

FaultRule partition(const HostAddress& from, const HostAddress& to, Time begin, Time end) {
  FaultRule rule = lose(1, begin, end);
  rule.from = from;
  rule.to = to;
  rule.reason = DropReason::partition;
  return rule;
}

FaultRule black_hole(std::uint32_t size, Time begin, Time end) {
  FaultRule rule = lose(1, begin, end);
  rule.above_size = size;
  rule.reason = DropReason::too_big;
  return rule;
}

}  // namespace homa::sim
