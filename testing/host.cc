#include "testing/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "testing/trace.h"
#include "wire/native.h"

namespace homa::sim {
namespace {

PortSettings card(const LinkSettings& uplink) {
  PortSettings settings;
  settings.link = uplink;
  settings.buffer_bytes = ~std::uint64_t{0};  // the driver bounds it
  settings.strict_priority = false;
  return settings;
}

}  // namespace

Host::Host(Medium& medium, Verdict& verdict, const HostSettings& settings, Sink& uplink_end)
    : medium_(medium),
      verdict_(verdict),
      settings_(settings),
      rng_(settings.seed),
      payloads_(verdict),
      nic_(medium, card(settings.uplink), uplink_end, this),
      train_(std::make_unique<protocol::Train>()),
      arrival_(std::make_unique<protocol::Arrival>()),
      frame_(std::make_unique<wire::Frame>()) {
  boot();
}

Host::~Host() = default;

void Host::boot() {
  ++lives_;
  if (buffers_) old_buffers_.push_back(std::move(buffers_));
  buffers_ = std::make_unique<CountingBuffers>(verdict_, settings_.buffer_limit);
  protocol::Config config = settings_.config;
  config.incarnation = mix64(settings_.seed * 977 + lives_) | 1;
  endpoint_ = std::make_unique<protocol::Endpoint>(config, mix64(settings_.seed + lives_ * 0x1234567), *buffers_);
  if (trace_ != nullptr) endpoint_->set_trace(trace_);
  if (application_ != nullptr) application_->on_boot(*this);
  service();
}

void Host::crash() {
  if (application_ != nullptr) application_->on_crash(*this);
  endpoint_.reset();
  payloads_.forget_all();
  ++timer_generation_;
  armed_ = kNever;
  card_full_ = false;
  paused_until_ = not_reading_until_ = Time{};
  for (Parcel* parcel : socket_) medium_.drop(parcel, DropReason::socket_full);
  socket_.clear();
  socket_bytes_ = 0;
}

void Host::set_trace(protocol::TraceSink* sink) {
  trace_ = sink;
  if (endpoint_) endpoint_->set_trace(sink);
}

void Host::kick() {
  if (endpoint_ && now() >= paused_until_) service();
}

void Host::pause(Time end) {
  if (!endpoint_ || end <= now()) return;
  paused_until_ = std::max(paused_until_, end);
  medium_.loop.at(paused_until_, *this, kResume);
}

void Host::stop_reading(Time end) {
  if (!endpoint_ || end <= now()) return;
  not_reading_until_ = std::max(not_reading_until_, end);
  medium_.loop.at(not_reading_until_, *this, kRead);
}

void Host::receive(Parcel* parcel) {
  if (parcel->corrupt) return medium_.drop(parcel, DropReason::corrupt);
  if (!endpoint_ || parcel->to != settings_.address) {
    if (on_unreachable && !parcel->hostile) on_unreachable(*parcel);
    return medium_.drop(parcel, DropReason::no_route);
  }
  if (now() >= paused_until_) return process(parcel);
  if (socket_bytes_ + parcel->size() > settings_.socket_buffer) return medium_.drop(parcel, DropReason::socket_full);
  socket_bytes_ += parcel->size();
  socket_.push_back(parcel);
}

void Host::process(Parcel* parcel) {
  take(parcel);
  service();
}

void Host::take(Parcel* parcel) {
  medium_.delivered(*parcel);
  const protocol::Datagram datagram{parcel->from, parcel->to.host, parcel->ecn, parcel->view()};
  take(datagram);
  medium_.pool.give(parcel);
}

void Host::take(const protocol::Datagram& datagram) {
  if (settings_.two_steps) return take_in_two_steps(datagram);
  endpoint_->receive(datagram, *arrival_, now());
}

void Host::take_in_two_steps(const protocol::Datagram& datagram) {
  if (!endpoint_->place(datagram, *arrival_, now())) return;
  const bool opens = settings_.open_failure == 0 || !rng_.chance(settings_.open_failure);
  for (std::size_t i = 0; i < arrival_->frame.packet_count; ++i) {
    std::byte* destination = arrival_->destination[i];
    const auto* data = std::get_if<wire::DataPacket>(&arrival_->frame.packets[i]);
    if (destination == nullptr || data == nullptr || data->payload.size == 0) continue;
    if (!buffers_->owns(destination, data->payload.size)) {
      verdict_.fail("buffers", "place() names a destination outside of the buffers in use");
      continue;
    }
    if (opens) {
      std::memcpy(destination, data->payload.data, data->payload.size);
    } else {
      std::memset(destination, 0xee, data->payload.size);
    }
  }
  if (opens) endpoint_->commit(datagram, *arrival_, now());
}

void Host::packet_left(std::uint32_t bytes) {
  if (!endpoint_ || now() < paused_until_) return;
  if (settings_.report_drain && nic_.backlog() > 0) {
    endpoint_->report_drain(bytes, settings_.uplink.rate.time_for(bytes), now());
  }
  if (card_full_ && nic_.backlog() < settings_.nic_room) service();
}

void Host::on_event(std::uint8_t kind, std::uint64_t argument) {
  if (!endpoint_) return;
  if (kind == kTimer) {
    if (argument != timer_generation_) return;
    armed_ = kNever;
    if (now() < paused_until_) return;  // resuming serves the endpoint
    return service();
  }
  if (kind == kResume) {
    if (now() < paused_until_) return;
    std::deque<Parcel*> waiting;
    waiting.swap(socket_);
    socket_bytes_ = 0;
    for (Parcel* parcel : waiting) take(parcel);  // a batch, as one receive call gives it
  }
  kick();
}

void Host::service() {
  if (in_service_) {
    service_again_ = true;
    return;
  }
  in_service_ = true;
  do {
    service_again_ = false;
    endpoint_->advance(now());
    drain_events();
    pump();
    drain_events();
  } while (service_again_);
  in_service_ = false;
  if (++services_ % 8 == 0) check_usage();
  arm();
}

void Host::drain_events() {
  if (now() < not_reading_until_) return;
  protocol::Event event;
  while (endpoint_->next_event(event, now())) {
    if (event.kind == protocol::Event::Kind::payload_released) payloads_.released(event.payload_cookie);
    if (application_ != nullptr) {
      application_->on_event(*this, event);
      service_again_ = true;
    }
    event = protocol::Event();
  }
}

void Host::pump() {
  card_full_ = false;
  if (settings_.report_backlog) endpoint_->report_backlog(nic_.backlog(), now());
  while (nic_.backlog() < settings_.nic_room) {
    if (!endpoint_->next_transmit(now(), *train_)) return;
    send(*train_);
  }
  card_full_ = true;
}

void Host::send(const protocol::Train& train) {
  ++trains_;
  for (std::size_t s = 0; s < train.segment_count; ++s) {
    if (train.segments[s].size <= settings_.interface_limit) continue;
    ++too_big_;
    return endpoint_->transmit_failed(train, protocol::TransmitFailure::too_big, now());
  }
  for (std::size_t s = 0; s < train.segment_count; ++s) {
    const protocol::Segment& segment = train.segments[s];
    Parcel* parcel = medium_.pool.take();
    parcel->from = settings_.address;
    parcel->to = train.to;
    parcel->priority = train.priority;
    parcel->ecn = train.ecn;
    parcel->sent = now();
    parcel->bytes.assign(segment.header.data, segment.header.data + segment.header.size);
    for (std::size_t p = 0; p < segment.piece_count; ++p) {
      const ByteView& piece = train.pieces[segment.first_piece + p];
      payloads_.check_readable(piece);
      parcel->bytes.insert(parcel->bytes.end(), piece.data, piece.data + piece.size);
    }
    if (s + 1 < train.segment_count && segment.size != train.segments[0].size) {
      verdict_.fail("train_shape", "segments before the last differ in size");
    }
    if (parcel->size() != segment.size) {
      verdict_.fail("train_shape", fmt::format("a segment says {} bytes and has {}", segment.size, parcel->size()));
    }
    const wire::DecodeError error = read_kinds(*parcel);
    if (error != wire::DecodeError::none) {
      verdict_.fail("wire_form",
                    fmt::format("{} sent a frame that does not decode: {}", settings_.name, wire::to_string(error)));
    }
    medium_.sent(*parcel);
    nic_.receive(parcel);
  }
}

wire::DecodeError Host::read_kinds(Parcel& parcel) {
  parcel.native = settings_.config.carrier == protocol::Carrier::native;
  parcel.kinds = kUnreadable;
  if (parcel.native) {
    wire::NativeHeader header;
    wire::Packet packet;
    const wire::DecodeError error = wire::decode_native(parcel.view(), header, packet);
    if (error == wire::DecodeError::none) parcel.kinds = kinds_of(packet);
    return error;
  }
  const wire::DecodeError error = wire::decode_frame(parcel.view(), *frame_);
  if (error == wire::DecodeError::none) parcel.kinds = kinds_of(*frame_);
  return error;
}

void Host::arm() {
  // While the card is full packet_left() serves the endpoint; its timers run on.
  const bool blocked = card_full_ && nic_.backlog() >= settings_.nic_room;
  const Time next = blocked ? endpoint_->next_timer() : endpoint_->next_deadline();
  if (next == armed_) return;
  ++timer_generation_;
  armed_ = next;
  if (next == kNever) return;
  if (next <= now()) {
    armed_ = kNever;
    spins_ = last_spin_ == now() ? spins_ + 1 : 0;
    last_spin_ = now();
    if (spins_ > 1000) {
      if (spins_ == 1001) verdict_.fail("progress", settings_.name + ": the deadline is now, again and again");
      armed_ = kNever;
      return;
    }
    armed_ = now();
  }
  medium_.loop.at(next, *this, kTimer, timer_generation_);
}

void Host::check_usage() {
  if (!endpoint_) return;
  const protocol::Endpoint::Usage usage = endpoint_->usage();
  const protocol::Config& config = settings_.config;
  const auto within = [&](const char* what, std::uint64_t value, std::uint64_t limit) {
    if (value > limit)
      verdict_.fail("limits", fmt::format("{}: {} is {}, limit {}", settings_.name, what, value, limit));
  };
  within("associations", usage.associations, config.max_associations);
  within("unproven associations", usage.unproven_associations, config.max_unproven_associations);
  within("receive memory", usage.receive_memory, config.receive_memory);
  within("buffers in use", buffers_->in_use(), config.receive_memory);
  // What peers may send unasked counts as well, and nothing bounds how many of them do; grants come on top only up to
  // the limit. A sender that fell silent loses its place; should it speak again, its share is over the limit.
  const std::uint64_t unasked = std::uint64_t{config.unscheduled_bytes} * (usage.calls + usage.requests);
  within("incoming", usage.incoming, settings_.incoming_factor * config.max_incoming + unasked);
  // Answers are never refused for want of memory: whoever asked has room for them.
  const std::uint64_t answers = usage.requests * config.max_message_length;
  within("send memory", usage.send_memory, config.send_memory + answers);
  // Tables grow with what they hold; a floor for what is sized in advance.
  const std::uint64_t table =
      (std::uint64_t{16} << 20) + usage.associations * (64u << 10) + (usage.calls + usage.requests) * (8u << 10);
  within("core memory", usage.core_memory, table);
  peak_core_memory_ = std::max(peak_core_memory_, usage.core_memory);
}

}  // namespace homa::sim
