#include "simulation/port.h"

#include <algorithm>
#include <bit>

namespace homa::simulation {

Port::Port(sim::EventLoop& loop, PacketPool& pool, const PortSettings& settings)
    : loop_(loop), pool_(pool), settings_(settings), clock_(settings.rate) {}

// Most packets find an idle port at moderate load: they cost no event here.
void Port::enqueue(Packet* packet) {
  if (waiting_mask_ == 0 && loop_.now() >= free_at_) {
    if (loop_.now() > free_at_) clock_.idle();
    return start(packet);
  }
  if (!has_room(*packet)) {
    ++counts_.dropped;
    return pool_.give(packet);
  }
  if (settings_.ecn_threshold_bytes != 0 && waiting_bytes_ > settings_.ecn_threshold_bytes &&
      packet->ecn != Ecn::not_ect) {
    packet->ecn = Ecn::ce;
    ++counts_.marked;
  }
  wait(packet);
}

bool Port::has_room(const Packet& packet) const {
  const std::uint64_t limit = settings_.shared != nullptr ? settings_.shared->limit() : settings_.buffer_bytes;
  return waiting_bytes_ + packet.wire_bytes <= limit;
}

void Port::note_waiting() {
  const Time now = loop_.now();
  counts_.waiting_byte_ns += static_cast<double>(waiting_bytes_) * static_cast<double>((now - waiting_since_).count());
  waiting_since_ = now;
}

void Port::wait(Packet* packet) {
  note_waiting();
  if (waiting_mask_ == 0) loop_.at(free_at_, *this);
  packet->next = nullptr;
  const std::uint32_t queue = settings_.one_queue ? 0 : packet->queue;
  Fifo& fifo = queues_[queue];
  (fifo.tail == nullptr ? fifo.head : fifo.tail->next) = packet;
  fifo.tail = packet;
  waiting_mask_ |= 1u << queue;
  waiting_bytes_ += packet->wire_bytes;
  if (settings_.shared != nullptr) settings_.shared->used += packet->wire_bytes;
  counts_.max_waiting_bytes = std::max(counts_.max_waiting_bytes, waiting_bytes_);
}

// Precondition: some packet waits.
Packet* Port::take_next() {
  note_waiting();
  const auto queue = static_cast<std::size_t>(std::bit_width(waiting_mask_) - 1);
  Fifo& fifo = queues_[queue];
  Packet* packet = fifo.head;
  fifo.head = packet->next;
  if (fifo.head == nullptr) {
    fifo.tail = nullptr;
    waiting_mask_ &= ~(1u << queue);
  }
  waiting_bytes_ -= packet->wire_bytes;
  if (settings_.shared != nullptr) settings_.shared->used -= packet->wire_bytes;
  return packet;
}

void Port::start(Packet* packet) {
  const Time begin = loop_.now();
  free_at_ = std::max(begin + clock_.next(packet->wire_bytes), packet->tail);
  counts_.bytes_sent += packet->wire_bytes;
  const auto argument = reinterpret_cast<std::uintptr_t>(packet);
  if (settings_.cut_through) {
    packet->tail = free_at_ + settings_.delay;
    loop_.at(begin + clock_.of(kDecisionBytes) + settings_.delay, *settings_.far_end, kPacketArrives, argument);
  } else {
    packet->tail = Time{};
    loop_.at(free_at_ + settings_.delay, *settings_.far_end, kPacketArrives, argument);
  }
}

// The link is free, and packets wait.
void Port::on_event(std::uint8_t, std::uint64_t) {
  start(take_next());
  if (waiting_mask_ != 0) loop_.at(free_at_, *this);
}

void Port::reset_counts() {
  counts_ = PortCounts();
  counts_.max_waiting_bytes = waiting_bytes_;
  waiting_since_ = loop_.now();
}

PortCounts Port::counts() const {
  PortCounts counts = counts_;
  counts.waiting_byte_ns +=
      static_cast<double>(waiting_bytes_) * static_cast<double>((loop_.now() - waiting_since_).count());
  return counts;
}

}  // namespace homa::simulation
