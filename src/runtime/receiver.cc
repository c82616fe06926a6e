#include "runtime/receiver.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "net/clock.h"
#include "runtime/shard.h"
#include "runtime/shard_link.h"

namespace homa::runtime {
namespace {

// docs/wire.md section 2: byte 0 bit 0 is `reversed`, byte 4 the shard of the id's chooser, byte 5 that of its peer.
constexpr std::size_t kFrameHeader = 16;
constexpr std::byte kReversed{0x01};

bool names_association(ByteView frame) {
  std::uint64_t id = 0;
  std::memcpy(&id, frame.data + 4, sizeof(id));
  return id != 0;
}

Ecn ecn_of(std::uint8_t tos) {
  return static_cast<Ecn>(tos & 3);
}

}  // namespace

Receiver::Receiver(net::UdpSocket& socket, protocol::Endpoint& endpoint, std::size_t own_shard,
                   std::vector<ShardLink*> siblings, RuntimeCounters& counters)
    : socket_(socket),
      endpoint_(endpoint),
      counters_(counters),
      own_shard_(own_shard),
      siblings_(std::move(siblings)),
      arrival_(std::make_unique<protocol::Arrival>()) {}

bool Receiver::pump(Time& now) {
  bool any = false;
  std::size_t bytes = 0;
  for (int i = 0; i < kBatchesPerTurn; ++i) {
    const net::ReceiveStatus status = socket_.receive(batch_, ask_);
    if (status == net::ReceiveStatus::fatal) ++counters_.receive_errors;
    if (status != net::ReceiveStatus::received) {
      ask_ = std::max<std::size_t>(ask_ / 2, 1);
      break;
    }
    any = true;
    ++counters_.receive_calls;
    counters_.receive_buffers += batch_.size();
    now = net::now();
    for (const net::Received& received : batch_) {
      take(received, now);
      bytes += received.bytes.size;
    }
    // recvmmsg looks once more in vain after the last datagram. Where one comes at a time, one is asked for, and
    // answered before the next look.
    const bool lone = ask_ == 1;
    if (!batch_.full()) {
      if (batch_.size() <= 1) ask_ = 1;
      break;
    }
    ask_ = std::min(2 * ask_, batch_.capacity());
    if (lone) break;
  }
  if (!any || bytes > kQuickBytes) now = net::now();
  if (socket_.counters().pending_errors != pending_errors_seen_) read_errors(now);
  return any;
}

void Receiver::take(const net::Received& received, Time now) {
  protocol::Datagram datagram;
  datagram.from = received.from;
  datagram.to = received.to;
  datagram.ecn = ecn_of(received.tos);
  const std::size_t segments = received.segment_count();
  for (std::size_t i = 0; i < segments; ++i) {
    datagram.bytes = received.segment(i);
    if (siblings_.size() > 1 && hand_over(datagram)) continue;
    endpoint_.receive(datagram, *arrival_, now);
  }
}

void Receiver::inject(const protocol::Datagram& datagram, Time now) {
  endpoint_.receive(datagram, *arrival_, now);
}

// Rare: the kernel steers each datagram by the same bytes, but coalesces before it steers.
bool Receiver::hand_over(const protocol::Datagram& datagram) {
  const ByteView& frame = datagram.bytes;
  if (frame.size < kFrameHeader || !names_association(frame)) return false;
  const bool reversed = (frame.data[0] & kReversed) != std::byte{0};
  const auto shard = static_cast<std::size_t>(frame.data[reversed ? 5 : 4]);
  if (shard == own_shard_ || shard >= siblings_.size()) return false;
  std::vector<std::byte> copy(frame.data, frame.data + frame.size);
  Command command;
  command.function = std::make_unique<UniqueFunction<void(Shard&)>>(
      [from = datagram.from, to = datagram.to, ecn = datagram.ecn, bytes = std::move(copy)](Shard& there) {
        there.inject({from, to, ecn, {bytes.data(), bytes.size()}});
      });
  ++counters_.handed_over;
  static_cast<void>(siblings_[shard]->post(std::move(command)));
  return true;
}

void Receiver::read_errors(Time now) {
  pending_errors_seen_ = socket_.counters().pending_errors;
  net::PeerError errors[16];
  std::size_t count = 0;
  do {
    count = socket_.read_errors(errors, std::size(errors));
    for (std::size_t i = 0; i < count; ++i) {
      ++counters_.network_errors;
      if (errors[i].peer.port == 0) continue;  // the report does not say whom it is about
      using Kind = net::PeerError::Kind;
      if (errors[i].kind == Kind::too_big) {
        endpoint_.network_error(errors[i].peer, protocol::TransmitFailure::too_big, now);
      } else if (errors[i].kind == Kind::port_unreachable || errors[i].kind == Kind::host_unreachable) {
        endpoint_.network_error(errors[i].peer, protocol::TransmitFailure::unreachable, now);
      }
    }
  } while (count == std::size(errors));
}

}  // namespace homa::runtime
