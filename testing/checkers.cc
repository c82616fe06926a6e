#include "testing/checkers.h"

#include <fmt/format.h>

#include <memory>
#include <variant>

#include "base/address_text.h"
#include "testing/trace.h"
#include "wire/datagram.h"

namespace homa::sim {

WireChecker::WireChecker(const EventLoop& loop, Verdict& verdict, const WireLimits& limits)
    : loop_(loop), verdict_(verdict), limits_(limits) {}

void WireChecker::initiated(const Address& from, const Address& to) {
  contacts_[{key(from), key(to)}].initiated = true;
}

void WireChecker::moved(const Address& before, const Address& after) {
  participant(after);
  moved_[key(before)] = key(after);
  std::map<PairKey, Contact> known;
  for (const auto& [pair, contact] : contacts_) {
    if (pair.first == key(before)) known[{key(after), pair.second}] = contact;
  }
  contacts_.merge(known);
}

void WireChecker::sent(const Parcel& parcel) {
  if (!is_judged(parcel)) return;
  count(parcel);
  check_amplification(parcel);
}

void WireChecker::check_amplification(const Parcel& parcel) {
  Contact& contact = contacts_[{key(parcel.from), key(parcel.to)}];
  if ((parcel.kinds & (kHello | kHelloAck)) != 0) {
    auto frame = std::make_unique<wire::Frame>();
    if (wire::decode_frame(parcel.view(), *frame) == wire::DecodeError::none) {
      for (std::size_t i = 0; i < frame->packet_count; ++i) {
        if (const auto* hello = std::get_if<wire::HelloPacket>(&frame->packets[i]))
          contact.ids.insert(hello->source.value);
      }
    }
  }
  if (contact.initiated || contact.proven) return;
  contact.bytes_out += parcel.size();
  contact.frames_out += 1;
  if (contact.bytes_out > limits_.amplification * contact.bytes_in) {
    verdict_.fail("amplification", fmt::format("{} sent {} bytes to the unproven {} for {} bytes", format(parcel.from),
                                               contact.bytes_out, format(parcel.to), contact.bytes_in));
  }
  // Whoever never proves itself may not set timers going here: one answer for one question.
  if (participants_.count(key(parcel.to)) == 0 && contact.frames_out > contact.frames_in) {
    verdict_.fail("hostile_reply", fmt::format("{} sent {} datagrams to {} for {}", format(parcel.from),
                                               contact.frames_out, format(parcel.to), contact.frames_in));
  }
}

void WireChecker::delivered(const Parcel& parcel) {
  count_late_arrival(parcel);
  // A process that slept may find in its socket what came to its old address.
  const auto at = moved_.find(key(parcel.to));
  Contact& contact = contacts_[{at == moved_.end() ? key(parcel.to) : at->second, key(parcel.from)}];
  if (contact.proven) return;
  contact.bytes_in += parcel.size();
  contact.frames_in += 1;
  wire::FrameHeader header;
  if (wire::decode_frame_header(parcel.view(), header) != wire::DecodeError::none) return;
  if (!header.reversed && contact.ids.count(header.destination.value) != 0) contact.proven = true;
}

void WireChecker::dropped(const Parcel&, DropReason) {}

void DuplicateCounter::delivered(const Parcel& parcel) {
  if (parcel.hostile || (parcel.kinds & kData) == 0 || (parcel.kinds & (kHello | kHelloAck)) != 0) return;
  std::uint64_t all = hash(parcel.from, 3) ^ mix64(hash(parcel.to, 5));
  for (const std::byte byte : parcel.bytes) all = (all ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
  if (!seen_.insert(all).second) ++again_[hash(parcel.to, 0)];
}

std::uint64_t DuplicateCounter::arrived_again(const Address& address) const {
  const auto at = again_.find(hash(address, 0));
  return at == again_.end() ? 0 : at->second;
}

WireChecker::Window& WireChecker::window_of(const AddressKey& from, const AddressKey& to) {
  Window& window = windows_[{from, to}];
  const std::int64_t number = window_number(loop_.now());
  if (number != window.number) {
    window.data_before = number == window.number + 1 ? window.data : 0;
    window.data = window.control = 0;
    window.blamed = false;
    window.number = number;
  }
  return window;
}

// Data can wait in a card or a queue for longer than a window remembers; what it calls forth follows its arrival.
void WireChecker::count_late_arrival(const Parcel& parcel) {
  if ((parcel.kinds & kData) == 0 || !is_judged(parcel)) return;
  if (window_number(loop_.now()) > window_number(parcel.sent) + 1) ++window_of(key(parcel.from), key(parcel.to)).data;
}

void WireChecker::count(const Parcel& parcel) {
  const AddressKey from = key(parcel.from);
  const AddressKey to = key(parcel.to);
  if ((parcel.kinds & kData) != 0) {
    ++data_frames_;
    ++window_of(from, to).data;
    return;
  }
  ++control_frames_;
  Window& there = window_of(from, to);
  const Window& back = window_of(to, from);
  ++there.control;
  const std::uint64_t data = there.data + there.data_before + back.data + back.data_before;
  const std::uint64_t limit = limits_.control_per_window + limits_.control_per_data * data;
  if (there.control <= limit || there.blamed) return;
  there.blamed = true;
  verdict_.fail("control_storm",
                fmt::format("{} sent {} more frames without data to {} than {} ms and {} with data excuse",
                            format(parcel.from), there.control, format(parcel.to), limits_.window / 1ms, data));
}

}  // namespace homa::sim
