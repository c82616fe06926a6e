// The subcommands of `homa`. Each adds its options to the command line and says what to run when it is chosen.
#pragma once

#include <functional>
#include <string>

#include <CLI/App.hpp>

namespace homa::tools {

inline constexpr unsigned short kDefaultPort = 4000;

/// What the chosen subcommand does; returns the exit code or throws Failure.
using Action = std::function<int()>;

void add_serve(CLI::App& app, Action& action);
void add_call(CLI::App& app, Action& action);
void add_ping(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_sim(CLI::App& app, Action& action);

}  // namespace homa::tools
