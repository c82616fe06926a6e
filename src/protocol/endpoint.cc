#include "protocol/endpoint.h"

#include <cstring>

#include "protocol/core.h"

namespace homa::protocol {

Endpoint::Core::Core(const Config& settings, std::uint64_t seed, BufferSource& buffers)
    : config(settings),
      uplink(settings.uplink, settings.nic_budget),
      rng_(seed),
      buffers_(buffers),
      by_local_id_(rng_.next()),
      by_remote_id_(rng_.next()),
      clients_(rng_.next()),
      hosts_by_address_(rng_.next()),
      native_requests_(settings.incarnation),
      send_queue_(settings.oldest_share),
      grants_(settings),
      unscheduled_(settings.priority_levels),
      downlink_(settings.downlink) {
  HOMA_ASSERT(config.incarnation != 0 && config.slots != 0);
  held_timer_.kind = TimerKind::held;
  const FixedPolicy& fixed = config.fixed_policy;
  if (fixed.in_force()) unscheduled_.fix(fixed.cutoffs, fixed.scheduled_levels);
}

// Whatever memory is still ours goes back to where it came from; nobody hears of it any more.
Endpoint::Core::~Core() {
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const Message& message = events_[i].message;
    if (message.data != nullptr) buffers_.release(message.data, message.length);
  }
  for (Association* a = all_.front(); a != nullptr; a = AllList::next(*a)) {
    for (Rpc* rpc = a->rpcs.front(); rpc != nullptr; rpc = AssociationRpcs::next(*rpc)) {
      grants_.forget_incoming(rpc->in);
      free_message_memory(rpc->in);
    }
  }
}

Endpoint::Usage Endpoint::Core::usage() const {
  Usage usage;
  usage.associations = associations_.live();
  usage.unproven_associations = unproven_count_;
  usage.calls = calls_;
  usage.requests = requests_;
  usage.receive_memory = receive_memory_;
  usage.incoming = grants_.total_incoming();
  usage.send_memory = send_memory_;
  usage.core_memory = associations_.memory_bytes() + rpcs_.memory_bytes() + hosts_.memory_bytes() +
                      by_local_id_.memory_bytes() + by_remote_id_.memory_bytes() + clients_.memory_bytes() +
                      hosts_by_address_.memory_bytes() + native_requests_.memory_bytes() +
                      contents_.capacity() * sizeof(Content) + send_queue_.memory_bytes() + timers_.memory_bytes() +
                      events_.memory_bytes() + stateless_.memory_bytes() + grants_.memory_bytes();
  for (Association* a = all_.front(); a != nullptr; a = AllList::next(*a)) usage.core_memory += a->memory_bytes();
  return usage;
}

Duration Endpoint::Core::smoothed_rtt(const Address& peer) const {
  const Association* association = clients_.find(peer);
  return association == nullptr ? Duration::zero() : association->top_rtt().smoothed();
}

Endpoint::Endpoint(const Config& config, std::uint64_t seed, BufferSource& buffers)
    : core_(std::make_unique<Core>(config, seed, buffers)) {}
Endpoint::~Endpoint() = default;

StartResult Endpoint::start(const Address& server, const Payload& request, const CallOptions& options, Time now) {
  return core_->start(server, request, options, now);
}
bool Endpoint::cancel(CallId call, Time now) {
  return core_->cancel(call, now);
}
bool Endpoint::reply(RequestId request, const Payload& response, Time now) {
  return core_->reply(request, response, now);
}
bool Endpoint::refuse(RequestId request, CallStatus reason, Time now) {
  return core_->refuse(request, reason, now);
}
void Endpoint::release_message(const Message& message, Time now) {
  core_->release_message(message, now);
}
void Endpoint::close(Time now) {
  core_->close(now);
}

bool Endpoint::place(const Datagram& datagram, Arrival& arrival, Time now) {
  return core_->place(datagram, arrival, now);
}
void Endpoint::commit(const Datagram& datagram, const Arrival& arrival, Time now) {
  core_->commit(datagram, arrival, now);
}
void Endpoint::receive(const Datagram& datagram, Arrival& scratch, Time now) {
  if (!core_->place(datagram, scratch, now)) return;
  for (std::size_t i = 0; i < scratch.frame.packet_count; ++i) {
    if (scratch.destination[i] == nullptr) continue;
    const ByteView& payload = std::get<wire::DataPacket>(scratch.frame.packets[i]).payload;
    std::memcpy(scratch.destination[i], payload.data, payload.size);
  }
  core_->commit(datagram, scratch, now);
}

bool Endpoint::next_transmit(Time now, Train& train) {
  return core_->next_transmit(now, train);
}
void Endpoint::transmit_failed(const Train& train, TransmitFailure failure, Time now) {
  core_->transmit_failed(train, failure, now);
}
void Endpoint::network_error(const Address& peer, TransmitFailure failure, Time now) {
  core_->network_error(peer, failure, now);
}
void Endpoint::report_drain(std::uint64_t bytes, Duration duration, Time now) {
  core_->uplink.drained(bytes, duration, now);
}
void Endpoint::report_backlog(std::uint64_t bytes, Time now) {
  core_->uplink.backlog(bytes, now);
}

void Endpoint::advance(Time now) {
  core_->advance(now);
}
Time Endpoint::next_deadline() const {
  return core_->next_deadline();
}
Time Endpoint::next_timer() const {
  return core_->next_timer();
}
bool Endpoint::next_event(Event& event, Time now) {
  return core_->next_event(event, now);
}

const Counters& Endpoint::counters() const {
  return core_->counters;
}
std::uint64_t Endpoint::max_message_length() const {
  return core_->config.max_message_length;
}
Endpoint::Usage Endpoint::usage() const {
  return core_->usage();
}
Duration Endpoint::smoothed_rtt(const Address& peer) const {
  return core_->smoothed_rtt(peer);
}
void Endpoint::set_trace(TraceSink* sink) {
  core_->trace_sink = sink;
}

const char* to_string(CallStatus status) {
  switch (status) {
    case CallStatus::ok:
      return "ok";
    case CallStatus::cancelled:
      return "cancelled";
    case CallStatus::deadline_exceeded:
      return "deadline exceeded";
    case CallStatus::peer_unreachable:
      return "peer unreachable";
    case CallStatus::peer_timeout:
      return "peer timeout";
    case CallStatus::outcome_unknown:
      return "outcome unknown";
    case CallStatus::refused:
      return "refused";
    case CallStatus::no_handler:
      return "no handler";
    case CallStatus::too_long:
      return "too long";
    case CallStatus::peer_closed:
      return "peer closed";
    case CallStatus::protocol_error:
      return "protocol error";
    case CallStatus::shut_down:
      return "shut down";
  }
  return "?";
}

const char* to_string(StartError error) {
  switch (error) {
    case StartError::none:
      return "none";
    case StartError::would_block:
      return "would block";
    case StartError::table_full:
      return "no room for one more peer";
    case StartError::too_long:
      return "too long";
    case StartError::no_address:
      return "no usable address";
    case StartError::deadline_passed:
      return "deadline has passed";
    case StartError::shut_down:
      return "shut down";
  }
  return "?";
}

}  // namespace homa::protocol
