// A random world, drawn from a seed: hosts, links, settings, workloads and faults. Plain values; world.h runs it.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "testing/application.h"
#include "testing/faults.h"
#include "testing/host.h"
#include "testing/hostile.h"
#include "testing/ledger.h"
#include "testing/switch.h"

namespace homa::sim {

// clang-format off
#define HOMA_SIM_KNOBS(X)                                                           \
  X(loss,               "random loss, up to 10 %")                                  \
  X(burst_loss,         "bursts of loss (Gilbert-Elliott)")                         \
  X(chosen_loss,        "the first few packets of one kind are lost")               \
  X(reorder,            "packets of one priority overtake each other")              \
  X(duplicate,          "copies within a millisecond")                              \
  X(late_duplicate,     "copies up to tens of seconds late")                        \
  X(corrupt,            "flipped bits, which the UDP checksum sees")                \
  X(truncated,          "shortened copies arrive as well")                          \
  X(foreign_copy,       "copies arrive from a foreign address as well")             \
  X(delay_spike,        "the path gets longer for a while")                         \
  X(partition_one_way,  "one direction between two hosts fails for a while")        \
  X(partition_two_way,  "both directions between two hosts fail for a while")       \
  X(black_hole,         "datagrams above a size vanish in one direction")           \
  X(emsgsize,           "a host's own interface refuses datagrams above a size")    \
  X(pause,              "a process gets no processor for a while")                  \
  X(restart,            "a process dies and another starts at its address")         \
  X(address_change,     "a host's address changes")                                 \
  X(dead_host,          "a host that is called never answers")                      \
  X(icmp,               "the network tells senders that nobody is there")           \
  X(hostile,            "garbage, forged frames and floods of HELLO")               \
  X(stop_reading,       "an application takes no events for a while")               \
  X(no_memory,          "a receiver's buffer source refuses for a while")           \
  X(open_failure,       "datagrams that were placed cannot be opened")              \
  X(small_buffers,      "switch buffers so small that bursts overflow")             \
  X(small_limits,       "few slots, little memory, small windows")                  \
  X(close,              "an endpoint is closed; sometimes a new process follows")   \
  X(native,             "Linux Homa's packets, in a network that loses nothing")    \
  X(ipv6,               "IPv6 addresses, some of them link-local with a scope")
// clang-format on

enum class Knob : std::uint8_t {
#define HOMA_SIM_KNOB_NAME(name, meaning) name,
  HOMA_SIM_KNOBS(HOMA_SIM_KNOB_NAME)
#undef HOMA_SIM_KNOB_NAME
      count_
};
inline constexpr std::size_t kKnobs = static_cast<std::size_t>(Knob::count_);
const char* to_string(Knob knob);

/// Something that happens to a host at a time.
struct Mishap {
  // clang-format off
  enum class Kind : std::uint8_t {
    pause, stop_reading, no_memory, crash, boot, close, change_address, interface_limit
  };
  // clang-format on
  Kind kind{};
  Time when{};
  int host = 0;
  Time until{};             ///< pause, stop_reading, no_memory
  Address address;          ///< change_address
  std::uint32_t limit = 0;  ///< interface_limit
};

struct WorldPlan {
  std::uint64_t seed = 0;
  std::bitset<kKnobs> knobs;
  std::vector<HostSettings> hosts;
  std::vector<PortSettings> downlinks;
  std::vector<Workload> workloads;
  std::vector<bool> dead;  ///< hosts that never answer
  std::vector<FaultRule> rules;
  std::vector<Mishap> mishaps;
  HostileSettings hostile;
  bool icmp = false;
  Time faults_end{};
  Circumstances circumstances;
  Duration base_rtt{};  ///< of the longest path, without queues
  Rate slowest;
  Duration peer_timeout{};
  std::uint64_t byte_budget = 0;

  bool has(Knob knob) const { return knobs[static_cast<std::size_t>(knob)]; }
  bool clean() const { return knobs.none(); }
};

/// `defects` goes into every endpoint's configuration (src/protocol/defects.h).
WorldPlan draw_world(std::uint64_t seed, std::uint32_t defects = 0);

}  // namespace homa::sim
