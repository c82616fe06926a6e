#include "runtime/transmitter.h"

#include <algorithm>

namespace homa::runtime {

using protocol::TransmitFailure;

Transmitter::Transmitter(net::UdpSocket& socket, protocol::Endpoint& endpoint, const PriorityMap& priorities,
                         RuntimeCounters& counters)
    : socket_(socket),
      endpoint_(endpoint),
      counters_(counters),
      dscp_(priorities.dscp),
      train_(std::make_unique<protocol::Train>()),
      flat_(new std::byte[protocol::kMaxTrainBytes]),
      batch_bytes_(new std::byte[kBatch * kBatchedBytes]) {}

bool Transmitter::pump(Time now) {
  if (wait_ == Wait::time && now < retry_at_) return false;
  wait_ = Wait::none;
  const std::uint64_t sent_before = sent_bytes_;
  if (!flush_batch(now) || !send_kept(now, false)) return sent_bytes_ != sent_before;

  bool any = false;
  for (int i = 0; i < kTrainsPerTurn; ++i) {
    if (!batch_has_room() && !flush_batch(now)) break;
    if (!endpoint_.next_transmit(now, *train_)) break;
    any = true;
    if (train_->segment_count == 1 && train_->total_bytes <= kBatchedBytes && !train_->is_mtu_probe) {
      add_to_batch(*train_);
      continue;
    }
    kept_ = {
        0, protocol::flatten(*train_, flat_.get()), train_->segment_size(), train_->to, train_->from, tos_of(*train_)};
    if (!flush_batch(now) || !send_kept(now, true)) break;
  }
  flush_batch(now);
  sample_backlog(now);
  return any || sent_bytes_ != sent_before;
}

std::uint8_t Transmitter::tos_of(const protocol::Train& train) const {
  const auto dscp = dscp_[static_cast<std::size_t>(index(train.priority))];
  return static_cast<std::uint8_t>((dscp << 2) | static_cast<std::uint8_t>(train.ecn));
}

void Transmitter::add_to_batch(const protocol::Train& train) {
  std::byte* at = batch_bytes_.get() + batch_used_;
  const std::size_t bytes = protocol::flatten(train, at);
  batch_[batch_count_++] = {{at, bytes}, train.to, train.from, tos_of(train)};
  batch_used_ += bytes;
}

bool Transmitter::flush_batch(Time now) {
  while (batch_sent_ < batch_count_) {
    const net::SendResult result = socket_.send_batch(&batch_[batch_sent_], batch_count_ - batch_sent_);
    ++counters_.send_calls;
    for (std::size_t i = 0; i < result.sent; ++i) note_sent(batch_[batch_sent_ + i].bytes.size);
    batch_sent_ += result.sent;
    if (result.status == net::SendStatus::sent) break;
    if (must_wait(result.status, now)) return false;
    count_failure(result.status);
    const Address& to = batch_[batch_sent_].to;
    if (result.status == net::SendStatus::too_big) endpoint_.network_error(to, TransmitFailure::too_big, now);
    if (result.status == net::SendStatus::unreachable) endpoint_.network_error(to, TransmitFailure::unreachable, now);
    ++batch_sent_;  // it counts as lost; the protocol recovers
  }
  batch_count_ = batch_sent_ = batch_used_ = 0;
  return true;
}

/// `fresh`: kept_ is the train that next_transmit() gave last, and nothing of it was tried before.
bool Transmitter::send_kept(Time now, bool fresh) {
  if (kept_.begin == kept_.end) return true;
  const ByteView rest{flat_.get() + kept_.begin, kept_.end - kept_.begin};
  const net::SendResult result = socket_.send_train(rest, kept_.segment_size, kept_.to, kept_.from, kept_.tos);
  ++counters_.send_calls;
  const std::size_t sent = std::min(result.sent * kept_.segment_size, rest.size);
  kept_.begin += sent;
  note_sent(sent);
  if (result.status == net::SendStatus::sent) {
    kept_.begin = kept_.end;
    return true;
  }
  if (must_wait(result.status, now)) return false;
  count_failure(result.status);
  kept_.begin = kept_.end;
  if (result.status == net::SendStatus::too_big || result.status == net::SendStatus::unreachable) {
    const auto failure =
        result.status == net::SendStatus::too_big ? TransmitFailure::too_big : TransmitFailure::unreachable;
    if (fresh) {
      endpoint_.transmit_failed(*train_, failure, now);
    } else {
      endpoint_.network_error(kept_.to, failure, now);
    }
  }
  return true;
}

bool Transmitter::must_wait(net::SendStatus status, Time now) {
  if (status == net::SendStatus::would_block) {
    ++counters_.send_blocked;
    wait_ = Wait::writable;
    return true;
  }
  if (status == net::SendStatus::no_buffers) {
    ++counters_.send_no_buffers;
    wait_ = Wait::time;
    retry_at_ = now + kNoBuffersPause;
    return true;
  }
  return false;
}

void Transmitter::count_failure(net::SendStatus status) {
  if (status == net::SendStatus::too_big) {
    ++counters_.send_too_big;
  } else if (status == net::SendStatus::unreachable) {
    ++counters_.send_unreachable;
  } else {
    ++counters_.send_dropped;
  }
}

void Transmitter::sample_backlog(Time now) {
  if (now - last_sample_ < kBacklogInterval) return;
  last_sample_ = now;
  const std::uint64_t truesize = socket_.backlog_bytes();
  endpoint_.report_backlog(BacklogGauge::payload_of(truesize), now);
  if (gauge_.sample(truesize, now)) endpoint_.report_drain(gauge_.drained(), gauge_.elapsed(), now);
}

}  // namespace homa::runtime
