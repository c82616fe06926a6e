#include "api_options.h"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "failure.h"
#include "parse.h"

namespace homa::tools {

void add_api_options(CLI::App& command, ApiOptions& options) {
  command
      .add_option("--security", options.security,
                  "required: how traffic is protected; 'clear' (not at all) is all so far")
      ->check(CLI::IsMember({"clear"}));
  command.add_option("--wait", options.wait, "while idle: poll (spin, lowest latency), adaptive, or block")
      ->check(CLI::IsMember({"poll", "adaptive", "block"}))
      ->capture_default_str();
}

Security security_of(const ApiOptions& options) {
  if (options.security.empty()) {
    throw usage_failure("say how traffic is protected: --security clear (not at all: for networks that you trust)");
  }
  return Security::clear();
}

WaitMode wait_mode_of(const std::string& text) {
  if (text == "poll") return WaitMode::busy_poll;
  return text == "block" ? WaitMode::block : WaitMode::adaptive;
}

void set_longest_message(EndpointOptions& options, const std::string& text) {
  constexpr std::uint64_t kLongest = (std::uint64_t{1} << 48) - 1;  // that the wire can say
  const std::uint64_t bytes = require_size("--max-message", text);
  if (bytes == 0 || bytes > kLongest) {
    throw usage_failure(fmt::format("--max-message: '{}' is not a length from 1 B to {} B", text, kLongest));
  }
  options.max_message_length = bytes;
  options.receive_memory = std::max(options.receive_memory, bytes);
  options.send_memory = std::max(options.send_memory, bytes);
}

Failure to_failure(const Error& error, const std::string& doing) {
  int exit_code = kExitFailed;
  switch (error.code()) {
    case ErrorCode::bad_option:
    case ErrorCode::bad_address:
    case ErrorCode::name_not_resolved:
    case ErrorCode::no_address:
    case ErrorCode::address_in_use:
    case ErrorCode::permission_denied:
    case ErrorCode::too_long:
      exit_code = kExitUsage;
      break;
    default:
      break;
  }
  if (error == ErrorCode::too_long) {
    return Failure(
        fmt::format("{}: longer than one of the ends takes; send less, or raise --max-message at both", doing),
        exit_code);
  }
  return Failure(fmt::format("{}: {}", doing, error.message()), exit_code);
}

}  // namespace homa::tools
