// What the subcommands that use the library have in common: --security, --wait, --shards, errors into failures.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "failure.h"
#include "homa/error.h"
#include "homa/options.h"

namespace homa::tools {

struct ApiOptions {
  std::string security;  ///< always given: there is no default
  std::string wait = "adaptive";
};

void add_api_options(CLI::App& command, ApiOptions& options);

Security security_of(const ApiOptions& options);
WaitMode wait_mode_of(const std::string& text);

/// --max-message, and the memory that one such message needs.
void set_longest_message(EndpointOptions& options, const std::string& text);

/// An error of the library as the command's failure: what lies in the input ends with exit code 2.
Failure to_failure(const Error& error, const std::string& doing);

}  // namespace homa::tools
