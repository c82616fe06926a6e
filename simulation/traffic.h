// Who starts which message when. Random numbers come from a seed of their own, so that runs that differ in policy or
// carrier carry the very same messages.
#pragma once

#include <cstdint>

#include "simulation/message_ledger.h"

namespace homa::simulation {

/// Takes what a generator makes.
class MessageStarter {
 public:
  struct Start {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::uint64_t length = 0;   ///< of a one-way message, or of a response
    std::uint64_t request = 0;  ///< length of the request that asks for it; 0: one-way
    bool counts = true;         ///< for slowdown and for the messages wanted
  };
  virtual void start_message(const Start& start) = 0;

 protected:
  ~MessageStarter() = default;
};

/// A generator. Outlives what it has scheduled.
class Traffic {
 public:
  virtual ~Traffic() = default;
  virtual void start() = 0;
  /// A message of this generator came to its end.
  virtual void delivered(const MessageRecord&) {}
};

}  // namespace homa::simulation
