// The history of all calls of a run, seen from outside both ends: what was asked, executed, answered and told.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "protocol/event.h"
#include "testing/verdict.h"

namespace homa::sim {

/// What the server's application does with a request.
enum class Behaviour : std::uint8_t { reply_now, reply_later, never, refuse };

struct CallRecord {
  int client = 0;
  int server = 0;
  bool one_way = false;
  bool idempotent = false;
  std::uint8_t message_class = 0;
  std::uint64_t request_length = 0;
  std::uint64_t response_length = 0;
  Behaviour behaviour = Behaviour::reply_now;
  Duration service_time{};
  Time started{};
  Time deadline = kNever;

  std::uint32_t deliveries = 0;
  bool refused = false;  ///< by the server's application
  Time replied = kNever;
  Time cancelled = kNever;
  bool abandoned = false;   ///< the calling process died
  bool withdrawn = false;   ///< start() refused it
  Time shut_down = kNever;  ///< its caller closed its endpoint while it was open
  std::uint32_t ends = 0;
  Time ended = kNever;
  protocol::CallStatus status = protocol::CallStatus::ok;

  /// Too short to carry the record's key: deliveries can only be counted.
  bool anonymous() const { return request_length < 8; }
};

/// How the world was: decides which ends are honest.
struct Circumstances {
  bool disrupted = false;         ///< restarts, partitions, long pauses, address changes, heavy loss: calls may fail
  bool addresses_vanish = false;  ///< some calls went to nobody
  Duration timer_slack = 1ms;     ///< by which a deadline may be told late
};

class Ledger {
 public:
  using Index = std::uint64_t;
  Ledger(Verdict& verdict, std::uint64_t seed) : verdict_(verdict), secret_(seed) {}

  Index add(const CallRecord& record);
  CallRecord& at(Index index) { return records_[index]; }
  const std::vector<CallRecord>& records() const { return records_; }
  /// Goes into the first 8 bytes of the request.
  std::uint64_t key(Index index) const { return (tag(index) << 32) | index; }
  std::uint64_t request_seed(Index index) const;
  std::uint64_t response_seed(Index index) const;

  /// A request or one-way message reached the application of `server`. Checks its bytes and counts. Returns the record,
  /// or null for anonymous and unknown ones.
  CallRecord* delivered(int server, const protocol::Event& event, Time now, Index* index);
  void replied(Index index, Time now);
  void refused(Index index) { records_[index].refused = true; }
  void cancelled(Index index, Time now);
  /// start() refused it: it never was a call.
  void withdraw(Index index);
  /// A call_finished event came.
  void finished(Index index, const protocol::Event& event, Time now);
  /// The process of `client` died with its calls.
  void abandon(int client);
  /// The endpoint of `host` was closed: its calls end now, those to it end somehow.
  void closed(int host, Time now);

  std::uint64_t open_calls() const { return open_; }
  /// Nothing can be on its way to `host`: all requests to it were taken and all answers to it arrived. False also when
  /// that cannot be known, because some call of it did not end well.
  bool nothing_inbound(int host) const;
  /// Judges what can only be known at the end.
  void judge(const Circumstances& circumstances, Time now);

 private:
  struct Inbound {
    std::int64_t messages = 0;
    bool unclear = false;
  };
  Inbound& inbound(int host) { return inbound_[host]; }
  std::uint64_t tag(Index index) const;
  std::string name(Index index) const;
  void check_content(const char* checker, const std::string& who, std::uint64_t seed, const protocol::Message& message,
                     std::uint64_t expected_length, std::uint64_t skip);
  void judge_record(Index index, const Circumstances& circumstances, Time now);
  void judge_status(Index index, const Circumstances& circumstances);
  void judge_anonymous();

  Verdict& verdict_;
  std::uint64_t secret_;
  std::uint64_t open_ = 0;
  std::vector<CallRecord> records_;
  std::map<int, Inbound> inbound_;  ///< by host
  std::set<int> closed_;            ///< hosts that closed at some time
  /// Server, length, one-way -> deliveries of anonymous messages.
  std::map<std::tuple<int, std::uint64_t, bool>, std::uint64_t> anonymous_deliveries_;
};

/// Seeds of the content of anonymous messages, which depend on nothing but the direction.
inline constexpr std::uint64_t kAnonymousRequest = 0x5eed0001;
inline constexpr std::uint64_t kAnonymousResponse = 0x5eed0002;

}  // namespace homa::sim
