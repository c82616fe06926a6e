#include "protocol/path_mtu.h"

#include <algorithm>

namespace homa::protocol {
namespace {

// UDP payloads of the MTUs that real links have: 1400 (tunnels), 1500 over IPv4 and IPv6, 4096 and 9000.
constexpr std::array<std::uint16_t, 6> kCandidates = {1352, 1452, 1472, 4048, 8952, 8972};

}  // namespace

PathMtu::PathMtu(const Config& config)
    : size_(config.initial_datagram),
      base_(config.min_datagram),
      ceiling_(config.max_datagram),
      raise_interval_(config.mtu_probe_interval) {}

void PathMtu::limit(std::uint16_t max_datagram) {
  ceiling_ = std::max(base_, std::min(ceiling_, max_datagram));
  size_ = std::min(size_, ceiling_);
}

std::uint16_t PathMtu::candidate_above(std::uint16_t size) const {
  for (const std::uint16_t candidate : kCandidates) {
    if (candidate > size && candidate <= ceiling_) return candidate;
  }
  return 0;
}

std::uint16_t PathMtu::next_probe(Time now) {
  if (probing_ != 0 || deliveries_ < kSettled || now < raise_at_) return 0;
  probing_ = candidate_above(size_);
  if (probing_ == 0) raise_at_ = kNever;  // at the top already
  return probing_;
}

void PathMtu::probe_acknowledged(std::uint16_t size, Time now) {
  if (size != probing_) return;
  size_ = std::max(size_, std::min(size, ceiling_));
  probing_ = 0;
  probe_losses_ = 0;
  raise_at_ = now;
}

void PathMtu::probe_lost(std::uint16_t size, Time now) {
  if (size != probing_) return;
  probing_ = 0;
  if (++probe_losses_ < kMaxProbes) return;
  probe_losses_ = 0;
  raise_at_ = now + raise_interval_;
}

bool PathMtu::too_big(std::uint16_t size, Time now) {
  if (size == probing_) {
    probing_ = 0;
    probe_losses_ = 0;
    raise_at_ = now + raise_interval_;
    return false;
  }
  if (size > size_) return false;  // of a train built before the size shrank
  deliveries_ = 0;
  raise_at_ = now;
  if (size_ <= base_) return false;
  // The system knows the link: anything at or above `size` is out until the raise timer.
  size_ = base_;
  for (const std::uint16_t candidate : kCandidates) {
    if (candidate < size && candidate > base_) size_ = candidate;
  }
  raise_at_ = now + raise_interval_;
  return true;
}

bool PathMtu::delivered(std::uint16_t size, Time sent, Time now) {
  ++deliveries_;
  if (size > base_) {
    newest_big_delivery_ = std::max(newest_big_delivery_, sent);
    big_losses_ = 0;
    small_deliveries_ = 0;
    return false;
  }
  if (!suspicious() || size_ <= base_ || ++small_deliveries_ < kSmallDeliveries) return false;
  big_losses_ = 0;
  small_deliveries_ = 0;
  deliveries_ = 0;
  size_ = base_;
  raise_at_ = now + raise_interval_;
  return true;
}

void PathMtu::lost(std::uint16_t size, Time sent) {
  if (size > base_ && sent > newest_big_delivery_ && big_losses_ < 0xffff) ++big_losses_;
}

}  // namespace homa::protocol
