// What other threads ask of a shard. A plain value, moved through the queue of ShardLink.
#pragma once

#include <cstdint>
#include <memory>

#include "homa/callback.h"
#include "protocol/event.h"

namespace homa::runtime {

class Shard;
struct Operation;

struct Command {
  enum class Kind : std::uint8_t {
    start,   ///< begin the call `operation`
    cancel,  ///< give up the call with `index` and `generation`
    reply,   ///< answer `request` with `operation`
    refuse,  ///< end `request` with `reason`
    run,     ///< anything rare
  };
  Kind kind = Kind::run;
  protocol::CallStatus reason = protocol::CallStatus::refused;
  std::uint32_t index = 0;
  std::uint64_t generation = 0;
  protocol::RequestId request;
  Operation* operation = nullptr;
  std::unique_ptr<UniqueFunction<void(Shard&)>> function;  ///< Kind::run
};

}  // namespace homa::runtime
