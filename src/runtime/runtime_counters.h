// What the runtime itself counts, beside the protocol's counters. Declared once: name and meaning.
#pragma once

#include <cstdint>

namespace homa::runtime {

// clang-format off
#define HOMA_RUNTIME_COUNTERS(X)                                                            \
  X(turns,               "turns of the shard's loop that did something")                    \
  X(sleeps,              "times the shard slept")                                           \
  X(wakeups,             "sleeps ended by another thread")                                  \
  X(receive_calls,       "receive calls that brought datagrams")                            \
  X(receive_buffers,     "buffers received, each one datagram or several coalesced")        \
  X(receive_errors,      "receive calls that failed")                                       \
  X(send_calls,          "send calls")                                                      \
  X(send_blocked,        "sends that met a full socket buffer")                             \
  X(send_no_buffers,     "sends that met a full queue below the socket")                    \
  X(send_too_big,        "sends refused as larger than the MTU")                            \
  X(send_unreachable,    "sends refused for want of a route or host")                       \
  X(send_dropped,        "sends refused by a local filter, or failed otherwise")            \
  X(network_errors,      "errors reported by the network about earlier datagrams")          \
  X(handed_over,         "datagrams received by the wrong shard and handed over")           \
  X(commands,            "requests of other threads")                                       \
  X(replies_dropped,     "answers whose caller had gone")
// clang-format on

struct RuntimeCounters {
#define HOMA_RUNTIME_COUNTER_FIELD(name, meaning) std::uint64_t name = 0;
  HOMA_RUNTIME_COUNTERS(HOMA_RUNTIME_COUNTER_FIELD)
#undef HOMA_RUNTIME_COUNTER_FIELD
};

/// Calls visit(name, meaning, value) for each counter in declaration order.
template <typename Visitor>
void for_each_counter(const RuntimeCounters& counters, Visitor&& visit) {
#define HOMA_RUNTIME_COUNTER_VISIT(name, meaning) visit(#name, meaning, counters.name);
  HOMA_RUNTIME_COUNTERS(HOMA_RUNTIME_COUNTER_VISIT)
#undef HOMA_RUNTIME_COUNTER_VISIT
}

}  // namespace homa::runtime
