#include "api_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "failure.h"

namespace homa::tools {

void add_api_options(CLI::App& command, ApiOptions& options) {
  command.add_option("--security", options.security, "how traffic is protected; 'clear' (not at all) must be named")
      ->required()
      ->check(CLI::IsMember({"clear"}));
  command.add_option("--wait", options.wait, "while idle: poll (spin, lowest latency), adaptive, or block")
      ->check(CLI::IsMember({"poll", "adaptive", "block"}))
      ->capture_default_str();
}

Security security_of(const ApiOptions&) {
  return Security::clear();
}

WaitMode wait_mode_of(const std::string& text) {
  if (text == "poll") return WaitMode::busy_poll;
  return text == "block" ? WaitMode::block : WaitMode::adaptive;
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
  return Failure(fmt::format("{}: {}", doing, error.message()), exit_code);
}

}  // namespace homa::tools
