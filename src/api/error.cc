#include "homa/error.h"

namespace homa {
namespace {

struct Explanation {
  ErrorCode code;
  std::string_view name;
  std::string_view cause;
  std::string_view cure;
};

constexpr Explanation kExplanations[] = {
    {ErrorCode::peer_unreachable, "peer_unreachable", "nobody answers at the peer's address; the call did not run",
     "check that the server runs there, and that no firewall drops UDP in either direction"},
    {ErrorCode::no_handler, "no_handler", "the peer serves no calls", "check that this is the address of a server"},
    {ErrorCode::too_long, "too_long", "the message is longer than the peer's limit or our own",
     "split it, or raise max_message_length at both ends"},
    {ErrorCode::cancelled, "cancelled", "the call was given up by cancel()", "none needed"},
    {ErrorCode::deadline_exceeded, "deadline_exceeded", "no answer came before the deadline; the call may have run",
     "allow more time, or find out what is slow"},
    {ErrorCode::peer_timeout, "peer_timeout", "the peer went silent; the call may have run",
     "check the peer and the path to it; try again if running twice does no harm"},
    {ErrorCode::outcome_unknown, "outcome_unknown",
     "the peer restarted or forgot us during the call, which may or may not have run",
     "find out whether it ran, or mark calls idempotent that may run twice"},
    {ErrorCode::peer_closed, "peer_closed", "the peer said goodbye during the call, which may have run",
     "wait for the server to come back"},
    {ErrorCode::shut_down, "shut_down", "our own client or server was closed", "none needed"},
    {ErrorCode::refused, "refused", "the peer's application refused the call or failed", "look into the peer's log"},
    {ErrorCode::protocol_error, "protocol_error", "the peer contradicted itself",
     "check that both ends run compatible versions; packets may be forged on a network that is not trusted"},
    {ErrorCode::would_block, "would_block", "too much is under way", "try again when a call has ended"},
    {ErrorCode::no_address, "no_address", "the address cannot be used",
     "give the address and port of one host, and for a link-local one the interface, as in [fe80::1%eth0]:4000"},
    {ErrorCode::bad_option, "bad_option", "an option is out of range or contradicts another", "correct the option"},
    {ErrorCode::bad_address, "bad_address", "the text is not an address",
     "write 192.0.2.1:4000, [2001:db8::1]:4000 or host.example:4000"},
    {ErrorCode::name_not_resolved, "name_not_resolved", "the host's name could not be resolved",
     "check the name and the resolver"},
    {ErrorCode::address_in_use, "address_in_use", "the port is taken",
     "stop the other process, or choose another port"},
    {ErrorCode::permission_denied, "permission_denied", "the system does not permit it",
     "choose a port from 1024 on, or ask the administrator"},
    {ErrorCode::system_error, "system_error", "the system refused", "see the detail"},
};

constexpr Explanation kUnknown{ErrorCode::system_error, "unknown", "unknown error", "none known"};

const Explanation& explanation(ErrorCode code) {
  for (const Explanation& entry : kExplanations) {
    if (entry.code == code) return entry;
  }
  return kUnknown;
}

}  // namespace

std::string_view to_string(ErrorCode code) {
  return explanation(code).name;
}

std::string Error::message() const {
  if (explained_) return detail_;
  const Explanation& entry = explanation(code_);
  std::string text(entry.cause);
  if (!detail_.empty()) text.append(" (").append(detail_).append(")");
  return text.append("; ").append(entry.cure);
}

}  // namespace homa
