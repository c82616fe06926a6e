#include "testing/ledger.h"

#include <fmt/format.h>

#include <cstring>

#include "base/address.h"
#include "testing/content.h"
#include "testing/trace.h"

namespace homa::sim {

using protocol::CallStatus;

Ledger::Index Ledger::add(const CallRecord& record) {
  records_.push_back(record);
  ++inbound(record.server).messages;
  ++open_;
  return records_.size() - 1;
}

void Ledger::replied(Index index, Time now) {
  CallRecord& record = records_[index];
  if (record.replied != kNever) return;
  record.replied = now;
  if (record.ends == 0 && !record.abandoned) ++inbound(record.client).messages;
}

bool Ledger::nothing_inbound(int host) const {
  const auto at = inbound_.find(host);
  return at == inbound_.end() || (at->second.messages == 0 && !at->second.unclear);
}

std::uint64_t Ledger::tag(Index index) const {
  return mix64(secret_ ^ (index * 0x9e3779b97f4a7c15ULL)) >> 32;
}

std::uint64_t Ledger::request_seed(Index index) const {
  return records_[index].anonymous() ? kAnonymousRequest : key(index);
}

std::uint64_t Ledger::response_seed(Index index) const {
  return records_[index].anonymous() ? kAnonymousResponse : ~key(index);
}

std::string Ledger::name(Index index) const {
  const CallRecord& r = records_[index];
  return fmt::format("call {} (host {} to {}, {}{}{} bytes, answer {}, started {})", index, r.client, r.server,
                     r.one_way ? "one-way " : "", r.idempotent ? "idempotent " : "", r.request_length,
                     r.response_length, to_string(r.started));
}

void Ledger::check_content(const char* checker, const std::string& who, std::uint64_t seed,
                           const protocol::Message& message, std::uint64_t expected_length, std::uint64_t skip) {
  if (message.length != expected_length) {
    return verdict_.fail(checker, fmt::format("{}: {} bytes instead of {}", who, message.length, expected_length));
  }
  if (message.length > 0 && message.data == nullptr) return verdict_.fail(checker, who + ": no memory");
  const std::uint64_t at = first_difference(seed, message.data, message.length, skip);
  if (at != message.length) {
    verdict_.fail(checker, fmt::format("{}: wrong byte at offset {} of {}", who, at, message.length));
  }
}

CallRecord* Ledger::delivered(int server, const protocol::Event& event, Time, Index* index) {
  const bool one_way = event.kind == protocol::Event::Kind::one_way;
  const protocol::Message& message = event.message;
  if (message.length < 8) {
    ++anonymous_deliveries_[{server, message.length, one_way}];
    check_content("request_bytes", "anonymous message", kAnonymousRequest, message, message.length, 0);
    return nullptr;
  }
  std::uint64_t found = 0;
  std::memcpy(&found, message.data, 8);
  *index = found & 0xffffffff;
  if (*index >= records_.size() || key(*index) != found) {
    verdict_.fail("request_bytes",
                  fmt::format("host {} got a message of {} bytes that nobody sent", server, message.length));
    return nullptr;
  }
  CallRecord& record = records_[*index];
  check_content("request_bytes", name(*index), key(*index), message, record.request_length, 8);
  if (record.server != server || record.one_way != one_way || record.message_class != event.message_class ||
      record.idempotent != event.idempotent) {
    verdict_.fail("request_bytes", name(*index) + ": delivered with another kind, class or flag, or to another host");
  }
  if (record.deliveries == 0 && record.ends == 0) --inbound(record.server).messages;
  if (++record.deliveries > 1 && !record.idempotent) {
    verdict_.fail("at_most_once", fmt::format("{}: executed {} times", name(*index), record.deliveries));
  }
  return &record;
}

void Ledger::cancelled(Index index, Time now) {
  if (records_[index].cancelled == kNever) records_[index].cancelled = now;
}

void Ledger::withdraw(Index index) {
  records_[index].withdrawn = true;
  --inbound(records_[index].server).messages;
  --open_;
}

void Ledger::finished(Index index, const protocol::Event& event, Time now) {
  CallRecord& record = records_[index];
  if (record.abandoned) return verdict_.fail("ends_once", name(index) + ": ended after its process died");
  if (++record.ends > 1) {
    return verdict_.fail("ends_once", fmt::format("{}: ended {} times", name(index), record.ends));
  }
  --open_;
  record.ended = now;
  record.status = event.status;
  if (record.deliveries == 0) --inbound(record.server).messages;
  if (record.replied != kNever) --inbound(record.client).messages;
  if (event.status != CallStatus::ok && event.status != CallStatus::refused) {
    inbound(record.server).unclear = inbound(record.client).unclear = true;  // parts may still arrive
  }
  if (event.status != CallStatus::ok) {
    if (event.message.data != nullptr) verdict_.fail("response_bytes", name(index) + ": failed, yet has a response");
    return;
  }
  if (record.one_way) return;
  check_content("response_bytes", name(index), response_seed(index), event.message, record.response_length, 0);
}

void Ledger::abandon(int client) {
  for (CallRecord& record : records_) {
    if (record.client != client || record.ends != 0 || record.abandoned || record.withdrawn) continue;
    record.abandoned = true;
    inbound(record.server).unclear = inbound(client).unclear = true;
    --open_;
  }
}

void Ledger::closed(int host, Time now) {
  closed_.insert(host);
  for (CallRecord& record : records_) {
    if (record.client != host || record.ends != 0 || record.abandoned || record.withdrawn) continue;
    record.shut_down = now;
  }
}

void Ledger::judge(const Circumstances& circumstances, Time now) {
  for (Index index = 0; index < records_.size(); ++index) judge_record(index, circumstances, now);
  judge_anonymous();
}

void Ledger::judge_record(Index index, const Circumstances& circumstances, Time now) {
  const CallRecord& record = records_[index];
  if (record.abandoned) return;
  if (record.withdrawn) {
    if (record.deliveries != 0) verdict_.fail("honest_status", name(index) + ": refused at start, yet executed");
    return;
  }
  if (record.ends == 0) {
    return verdict_.fail("liveness", fmt::format("{}: not ended at {}", name(index), to_string(now)));
  }
  if (record.deadline != kNever && record.ended > record.deadline + circumstances.timer_slack) {
    verdict_.fail("deadline", fmt::format("{}: deadline {}, ended {} at {}", name(index), to_string(record.deadline),
                                          protocol::to_string(record.status), to_string(record.ended)));
  }
  if (record.cancelled != kNever && record.ended > record.cancelled + circumstances.timer_slack) {
    verdict_.fail("cancel", fmt::format("{}: cancelled {}, ended {}", name(index), to_string(record.cancelled),
                                        to_string(record.ended)));
  }
  if (record.shut_down != kNever && record.ended > record.shut_down) {
    verdict_.fail("close", fmt::format("{}: its endpoint closed at {}, it ended {}", name(index),
                                       to_string(record.shut_down), to_string(record.ended)));
  }
  judge_status(index, circumstances);
}

void Ledger::judge_status(Index index, const Circumstances& circumstances) {
  const CallRecord& record = records_[index];
  const auto lie = [&](const char* why) {
    verdict_.fail("honest_status", fmt::format("{}: ended {} at {}: {}", name(index),
                                               protocol::to_string(record.status), to_string(record.ended), why));
  };
  if (record.shut_down != kNever && record.status != CallStatus::shut_down) lie("but its endpoint was closed");
  const bool server_may_fail = circumstances.disrupted || closed_.count(record.server) != 0;
  if (record.cancelled != kNever && record.status != CallStatus::cancelled) lie("but was cancelled");
  switch (record.status) {
    case CallStatus::ok:
      if (!record.anonymous() && record.deliveries == 0) lie("but was never delivered");
      if (!record.anonymous() && !record.one_way && record.replied > record.ended) lie("but was never answered");
      if (record.refused && !record.one_way) lie("but was refused");
      return;
    case CallStatus::cancelled:
      if (record.cancelled == kNever) lie("but was not cancelled");
      return;
    case CallStatus::deadline_exceeded:
      if (record.deadline == kNever || record.ended < record.deadline) lie("but the deadline had not come");
      return;
    case CallStatus::refused:
      if (!record.refused && !record.anonymous()) lie("but nobody refused it");
      return;
    case CallStatus::peer_unreachable:
      if (record.deliveries != 0 && !record.idempotent) lie("but was executed");
      if (!server_may_fail && !circumstances.addresses_vanish) lie("in a network without such faults");
      return;
    case CallStatus::shut_down:
      if (record.shut_down == kNever) lie("but its endpoint was not closed");
      return;
    case CallStatus::peer_closed:
      if (closed_.count(record.server) == 0) lie("but the server did not close");
      return;
    case CallStatus::peer_timeout:
    case CallStatus::outcome_unknown:
      if (!server_may_fail) lie("in a network without such faults");
      return;
    case CallStatus::no_handler:
    case CallStatus::too_long:
    case CallStatus::protocol_error:
      return lie("for no reason");
  }
}

void Ledger::judge_anonymous() {
  std::map<std::tuple<int, std::uint64_t, bool>, std::pair<std::uint64_t, std::uint64_t>> sent;  // started, ended ok
  for (const CallRecord& record : records_) {
    if (!record.anonymous() || record.withdrawn) continue;
    auto& [started, ok] = sent[{record.server, record.request_length, record.one_way}];
    ++started;
    if (record.ends != 0 && record.status == CallStatus::ok) ++ok;
  }
  for (const auto& [what, delivered] : anonymous_deliveries_) {
    if (delivered > sent[what].first) {
      verdict_.fail("at_most_once", fmt::format("host {} got {} messages of {} bytes, {} were sent", std::get<0>(what),
                                                delivered, std::get<1>(what), sent[what].first));
    }
  }
  for (const auto& [what, counts] : sent) {
    if (anonymous_deliveries_[what] < counts.second) {
      verdict_.fail("honest_status",
                    fmt::format("{} messages of {} bytes to host {} ended ok, {} were delivered", counts.second,
                                std::get<1>(what), std::get<0>(what), anonymous_deliveries_[what]));
    }
  }
}

}  // namespace homa::sim
