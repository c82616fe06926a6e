// Generators that start the next message when one has ended: incast, and the long messages beside a victim.
#pragma once

#include <cstdint>

#include "simulation/traffic.h"

namespace homa::simulation {

/// Host 0 asks `width` servers at once for a response each, and again when it has them all.
class IncastTraffic final : public Traffic {
 public:
  IncastTraffic(std::uint32_t hosts, std::uint32_t width, std::uint64_t response_bytes, MessageStarter& starter)
      : hosts_(hosts), width_(width), response_bytes_(response_bytes), starter_(starter) {}
  void start() override;
  void delivered(const MessageRecord& record) override;

 private:
  const std::uint32_t hosts_;
  const std::uint32_t width_;
  const std::uint64_t response_bytes_;
  MessageStarter& starter_;
  std::uint32_t missing_ = 0;
};

/// The hosts of the victim scenario: A and B behind the first leaf, C and D behind the second.
struct VictimHosts {
  std::uint32_t a = 0;
  std::uint32_t b = 1;
  std::uint32_t c = 0;
  std::uint32_t d = 0;
};

/// A and B each keep a few long messages to C under way.
class SaturatingTraffic final : public Traffic {
 public:
  SaturatingTraffic(const VictimHosts& hosts, MessageStarter& starter) : hosts_(hosts), starter_(starter) {}
  void start() override;
  void delivered(const MessageRecord& record) override;

 private:
  void send(std::uint32_t source);

  const VictimHosts hosts_;
  MessageStarter& starter_;
};

}  // namespace homa::simulation
