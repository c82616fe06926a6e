#include "testing/switch.h"

#include <algorithm>
#include <bit>

namespace homa::sim {

const char* to_string(DropReason reason) {
  switch (reason) {
    case DropReason::queue_full:
      return "queue full";
    case DropReason::no_route:
      return "no route";
    case DropReason::random_loss:
      return "random loss";
    case DropReason::burst_loss:
      return "burst loss";
    case DropReason::chosen:
      return "chosen";
    case DropReason::partition:
      return "partition";
    case DropReason::too_big:
      return "too big for the path";
    case DropReason::corrupt:
      return "corrupt";
    case DropReason::socket_full:
      return "socket buffer full";
    case DropReason::not_opened:
      return "not opened";
  }
  return "?";
}

Port::Port(Medium& medium, const PortSettings& settings, Sink& far_end, PortListener* listener)
    : medium_(medium), settings_(settings), far_end_(far_end), listener_(listener), clock_(settings.link.rate) {}

void Port::receive(Parcel* parcel) {
  const std::uint64_t size = wire_size(*parcel);
  if (backlog_ + size > settings_.buffer_bytes) return medium_.drop(parcel, DropReason::queue_full);
  if (settings_.ecn_threshold != 0 && backlog_ > settings_.ecn_threshold && parcel->ecn != Ecn::not_ect) {
    parcel->ecn = Ecn::ce;
  }
  backlog_ += size;
  peak_backlog_ = std::max(peak_backlog_, backlog_);
  const auto queue = settings_.strict_priority ? static_cast<std::size_t>(index(parcel->priority)) : 0u;
  parcel->next = nullptr;
  Fifo& fifo = queues_[queue];
  (fifo.tail == nullptr ? fifo.head : fifo.tail->next) = parcel;
  fifo.tail = parcel;
  waiting_ |= 1u << queue;
  if (idle()) {
    clock_.idle();
    start_next();
  }
}

Parcel* Port::take_next() {
  const auto queue = static_cast<std::size_t>(std::bit_width(waiting_) - 1);
  Fifo& fifo = queues_[queue];
  Parcel* parcel = fifo.head;
  fifo.head = parcel->next;
  parcel->next = nullptr;
  if (fifo.head == nullptr) {
    fifo.tail = nullptr;
    waiting_ &= ~(1u << queue);
  }
  return parcel;
}

void Port::start_next() {
  sending_ = take_next();
  const Time left = medium_.loop.now() + clock_.next(wire_size(*sending_));
  medium_.loop.at(left, *this, kLeft);
  medium_.loop.at(left + settings_.link.delay, *this, kArrived, reinterpret_cast<std::uintptr_t>(sending_));
}

void Port::on_event(std::uint8_t kind, std::uint64_t argument) {
  if (kind == kArrived) return far_end_.receive(reinterpret_cast<Parcel*>(argument));
  const auto size = static_cast<std::uint32_t>(wire_size(*sending_));
  sending_ = nullptr;
  backlog_ -= size;
  if (waiting_ != 0) start_next();
  if (listener_ != nullptr) listener_->packet_left(size);
}

namespace {
bool less(const HostAddress& a, const HostAddress& b) {
  return a.ip != b.ip ? a.ip < b.ip : a.scope < b.scope;
}
}  // namespace

Port& Switch::add_port(const PortSettings& settings, Sink& far_end) {
  ports_.push_back(std::make_unique<Port>(medium_, settings, far_end));
  return *ports_.back();
}

void Switch::set_route(const HostAddress& host, Port& port) {
  remove_route(host);
  const auto at = std::lower_bound(routes_.begin(), routes_.end(), host,
                                   [](const Route& route, const HostAddress& key) { return less(route.host, key); });
  routes_.insert(at, {host, &port});
}

void Switch::remove_route(const HostAddress& host) {
  std::erase_if(routes_, [&](const Route& route) { return route.host == host; });
}

void Switch::receive(Parcel* parcel) {
  const auto at = std::lower_bound(routes_.begin(), routes_.end(), parcel->to.host,
                                   [](const Route& route, const HostAddress& key) { return less(route.host, key); });
  if (at == routes_.end() || at->host != parcel->to.host) return medium_.drop(parcel, DropReason::no_route);
  at->port->receive(parcel);
}

}  // namespace homa::sim
