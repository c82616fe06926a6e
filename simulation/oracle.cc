#include "simulation/oracle.h"

#include <utility>

namespace homa::simulation {

Oracle::Oracle(sim::EventLoop& loop, const Topology& topology, UnloadedTimes& unloaded, Delivered delivered)
    : loop_(loop),
      topology_(topology),
      unloaded_(unloaded),
      delivered_(std::move(delivered)),
      hosts_(topology.hosts()) {}

Oracle::Key Oracle::key(std::uint32_t number) const {
  const Message& message = messages_[number];
  Duration remaining = message.remaining;
  if (message.running) remaining -= loop_.now() - message.running_since;
  return {remaining, message.age, number};
}

void Oracle::start(std::uint32_t source, std::uint32_t destination, std::uint64_t length) {
  std::uint32_t number = 0;
  if (free_.empty()) {
    number = static_cast<std::uint32_t>(messages_.size());
    messages_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  const Duration on_link = unloaded_.on_link(length);
  const std::uint32_t generation = messages_[number].generation;
  messages_[number] = {source, destination, length, next_age_++, on_link, on_link, {}, false, generation};
  hosts_[source].out.insert(key(number));
  hosts_[destination].in.insert(key(number));
  if (may_run(key(number))) run(number);
}

// A message runs when both of its hosts are free, or busy with a longer one.
bool Oracle::may_run(const Key& key) const {
  const Message& message = messages_[key.message];
  return would_yield(hosts_[message.source].sending, key) && would_yield(hosts_[message.destination].receiving, key);
}

void Oracle::run(std::uint32_t number) {
  Message& message = messages_[number];
  Host& source = hosts_[message.source];
  Host& destination = hosts_[message.destination];
  source.out.erase(key(number));
  destination.in.erase(key(number));
  const std::uint32_t sent_before = source.sending;
  const std::uint32_t received_before = destination.receiving;
  if (sent_before != kNone) interrupt(sent_before);
  if (received_before != kNone && received_before != sent_before) interrupt(received_before);
  source.sending = destination.receiving = number;
  message.running = true;
  message.running_since = loop_.now();
  loop_.at(loop_.now() + message.remaining, *this, 0, std::uint64_t{++message.generation} << 32 | number);
  // Whoever was interrupted left a host behind that is free now. By value: what runs there may move the messages.
  if (sent_before != kNone) fill_receiver(Message(messages_[sent_before]).destination);
  if (received_before != kNone) fill_sender(Message(messages_[received_before]).source);
}

void Oracle::interrupt(std::uint32_t number) {
  Message& message = messages_[number];
  message.remaining = key(number).remaining;
  message.running = false;
  ++message.generation;
  release(message);
  hosts_[message.source].out.insert(key(number));
  hosts_[message.destination].in.insert(key(number));
}

void Oracle::release(const Message& message) {
  hosts_[message.source].sending = kNone;
  hosts_[message.destination].receiving = kNone;
}

// Everything only moves to shorter messages, so this ends.
void Oracle::fill_sender(std::uint32_t host) {
  if (hosts_[host].sending != kNone) return;
  for (const Key& candidate : hosts_[host].out) {
    if (may_run(candidate)) return run(candidate.message);
  }
}

void Oracle::fill_receiver(std::uint32_t host) {
  if (hosts_[host].receiving != kNone) return;
  for (const Key& candidate : hosts_[host].in) {
    if (may_run(candidate)) return run(candidate.message);
  }
}

// A message has left, unless it was interrupted meanwhile.
void Oracle::on_event(std::uint8_t, std::uint64_t argument) {
  const auto number = static_cast<std::uint32_t>(argument);
  if (messages_[number].generation != argument >> 32) return;
  messages_[number].running = false;
  const Message message = messages_[number];
  release(message);
  free_.push_back(number);
  const Distance distance = distance_between(topology_, message.source, message.destination);
  const Duration path = unloaded_.of(message.length, distance) - message.on_link;
  delivered_(message.source, message.destination, message.length, loop_.now() + path);
  fill_sender(message.source);
  fill_receiver(message.destination);
}

}  // namespace homa::simulation
