// Planted defects: switches by which test builds break the core on purpose, to prove that the checkers see it.
//
// Only the library homa_protocol_defective is compiled with HOMA_PLANTED_DEFECTS; in the product each test of a switch
// is the constant false.
#pragma once

#include <cstdint>

namespace homa::protocol {

// clang-format off
#define HOMA_DEFECTS(X)                                                                                  \
  X(dedup_skipped,            "a request of the current generation runs again when it arrives again")    \
  X(generation_not_checked,   "a packet of an older generation of a slot is taken for the current one")  \
  X(range_merge_wrong,        "a received range is joined with its neighbour across a gap of one packet")\
  X(grant_lost,               "a lost GRANT is not sent again")                                          \
  X(abort_lost,               "a lost ABORT or ABORTED is not sent again")                               \
  X(release_lost,             "a lost RELEASE is not sent again")                                        \
  X(window_off_by_one,        "a sender sends one packet more than it was granted")                      \
  X(probe_timer_forgotten,    "no probe timer is set for the last packets in flight")                    \
  X(deadline_forgotten,       "the deadline of a call is not watched")                                   \
  X(ack_not_sent,             "a bare acknowledgment is never sent")                                     \
  X(ack_before_placed,        "a packet that could not be placed is acknowledged all the same")          \
  X(loss_not_requeued,        "the bytes of a lost packet are not sent again")                           \
  X(retransmit_wrong_offset,  "a retransmission reads its payload one byte too early")                   \
  X(memory_not_returned,      "the memory of a cancelled incoming message stays charged")                \
  X(slot_freed_early,         "a cancelled call's slot is used again before the server said ABORTED")    \
  X(incarnation_ignored,      "calls are sent again though the server restarted")                        \
  X(hold_not_released,        "a held message is forgotten when memory comes free")                      \
  X(ping_forgotten,           "a silent peer that we wait for is never asked whether it lives")          \
  X(duplicate_number_taken,   "a packet number seen before is processed again")                          \
  X(incoming_leak,            "bytes that were granted and arrived stay counted as incoming")            \
  X(event_twice,              "a response that is complete finishes its call twice")                     \
  X(stale_response_taken,     "a late response of an earlier generation finishes the current call")      \
  X(timer_never_cancelled,    "the probe timer keeps running when nothing is in flight")
// clang-format on

enum class Defect : std::uint32_t {
#define HOMA_DEFECT_NAME(name, meaning) name,
  HOMA_DEFECTS(HOMA_DEFECT_NAME)
#undef HOMA_DEFECT_NAME
      count_
};

#ifdef HOMA_PLANTED_DEFECTS
constexpr bool planted(std::uint32_t defects, Defect defect) {
  return ((defects >> static_cast<std::uint32_t>(defect)) & 1u) != 0;
}
#else
constexpr bool planted(std::uint32_t, Defect) {
  return false;
}
#endif

}  // namespace homa::protocol
