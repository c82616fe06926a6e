// Everything that the core counts, declared once: name and meaning. Feeds the struct, printing and documentation.
#pragma once

#include <cstdint>

namespace homa::protocol {

// clang-format off
#define HOMA_COUNTERS(X)                                                                        \
  X(datagrams_received,         "datagrams given to place()")                                   \
  X(datagrams_malformed,        "dropped: not a frame of ours, or a field out of range")        \
  X(datagrams_unknown,          "dropped: no association of that id")                           \
  X(datagrams_wrong_address,    "dropped: right id, wrong source address")                      \
  X(datagrams_duplicate,        "dropped: packet number seen before")                           \
  X(datagrams_sent,             "frames put into trains")                                       \
  X(bytes_sent,                 "bytes of those frames")                                        \
  X(bytes_received,             "bytes of the datagrams received")                              \
  X(trains_sent,                "trains")                                                       \
  X(data_sent,                  "DATA packets sent, first transmissions")                       \
  X(data_resent,                "DATA packets sent again")                                      \
  X(data_received,              "DATA packets that brought new bytes or a new message")         \
  X(data_duplicate,             "DATA packets that brought nothing new")                        \
  X(data_stale,                 "DATA packets of a finished or superseded RPC")                 \
  X(data_rejected,              "DATA packets that contradict what is known")                   \
  X(data_held,                  "DATA packets of messages that cannot be taken now")            \
  X(grants_sent,                "GRANT packets sent")                                           \
  X(grants_received,            "GRANT packets that moved a limit")                             \
  X(grants_rejected,            "GRANT packets beyond the message, or of no message")           \
  X(holds_sent,                 "GRANT packets with HOLD sent")                                 \
  X(acks_sent,                  "ACK packets sent")                                             \
  X(acks_bare_sent,             "frames that carried nothing but ACK packets")                  \
  X(acks_received,              "ACK packets received")                                         \
  X(acks_rejected,              "ACK packets that name no number that was sent")                \
  X(packets_lost,               "packets declared lost")                                        \
  X(losses_spurious,            "packets acknowledged after they were declared lost")           \
  X(probes_sent,                "probe timeouts")                                               \
  X(pings_sent,                 "PING packets sent")                                            \
  X(hellos_sent,                "HELLO packets sent")                                           \
  X(hellos_received,            "HELLO packets received")                                       \
  X(hellos_refused,             "HELLOs and answers not taken: table full, version, id in use")  \
  X(no_association_sent,        "NO_ASSOCIATION sent")                                          \
  X(no_association_received,    "NO_ASSOCIATION that matched an association")                   \
  X(no_association_rejected,    "NO_ASSOCIATION that did not echo what we sent")                \
  X(associations_opened,        "associations opened")                                          \
  X(associations_evicted,       "idle associations forgotten")                                  \
  X(associations_lost,          "associations ended by the peer's restart, death or goodbye")   \
  X(calls_started,              "calls and one-way messages started")                           \
  X(calls_succeeded,            "of those: ended ok")                                           \
  X(calls_failed,               "of those: ended otherwise")                                    \
  X(calls_restarted,            "calls sent again on a new association")                        \
  X(calls_blocked,              "starts refused with would_block")                              \
  X(requests_delivered,         "requests and one-way messages given to the application")       \
  X(requests_aborted,           "requests whose caller went away")                              \
  X(requests_duplicate,         "requests that arrived again after they had run")               \
  X(responses_discarded,        "responses that came after their call had ended")               \
  X(aborts_sent,                "ABORT packets sent")                                           \
  X(aborts_received,            "ABORT packets received")                                       \
  X(cutoffs_sent,               "CUTOFFS packets sent")                                         \
  X(mtu_probes_sent,            "MTU_PROBE packets sent")                                       \
  X(mtu_raised,                 "times the packet size of a peer grew")                         \
  X(mtu_black_holes,            "times big packets vanished and the packet size shrank")        \
  X(mtu_too_big,                "trains that the system refused as too big")                    \
  X(amplification_limited,      "times an unproven address could not be answered more")         \
  X(ecn_ce_received,            "frames received with ECN CE")
// clang-format on

struct Counters {
#define HOMA_COUNTER_FIELD(name, meaning) std::uint64_t name = 0;
  HOMA_COUNTERS(HOMA_COUNTER_FIELD)
#undef HOMA_COUNTER_FIELD
};

/// Calls visit(name, meaning, value) for each counter in declaration order.
template <typename Visitor>
void for_each_counter(const Counters& counters, Visitor&& visit) {
#define HOMA_COUNTER_VISIT(name, meaning) visit(#name, meaning, counters.name);
  HOMA_COUNTERS(HOMA_COUNTER_VISIT)
#undef HOMA_COUNTER_VISIT
}

}  // namespace homa::protocol
