// The `homa` command: chooses the subcommand; failures become one line and an exit code (failure.h).
#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "command.h"
#include "failure.h"

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  homa serve --echo --security clear\n"
    "  homa ping server:4000 --security clear\n"
    "  homa serve --files /srv/data --bind :4000 --security clear\n"
    "  homa call server:4000 --data readme.txt --out readme.txt --security clear\n"
    "  homa bench run server:4000 --transport homa --size 1MB --outstanding 8\n"
    "  homa sim run homa18-slowdown --workload w4 --quick\n"
    "\n"
    "Exit codes: 0 done, 1 tried and failed, 2 wrong use or input. 'homa COMMAND --help' tells more.";

/// "homa call", as the user typed it.
std::string command_name(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

/// CLI11's messages may have several lines; ours are one.
std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& character : text) {
    if (character == '\n') character = ' ';
  }
  return text;
}

int report(const CLI::App& app, const std::string& what, int exit_code) {
  fmt::print(stderr, "{}: {}\n", command_name(app), one_line(what));
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Messages over Homa: small ones do not wait for large ones.", "homa");
  app.require_subcommand(1);
  app.footer(kExamples);
  app.set_version_flag("--version", HOMA_VERSION);
  homa::tools::Action action;
  homa::tools::add_serve(app, action);
  homa::tools::add_call(app, action);
  homa::tools::add_ping(app, action);
  homa::tools::add_bench(app, action);
  homa::tools::add_sim(app, action);
  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    if (argc > 1 && app.get_subcommands().empty()) {
      const char* const what = argv[1][0] == '-' ? "option" : "command";
      return report(app,
                    fmt::format("unknown {} '{}'; the commands are serve, call, ping, bench and sim; see 'homa --help'",
                                what, argv[1]),
                    homa::tools::kExitUsage);
    }
    return report(app, fmt::format("{}; see '{} --help'", one_line(error.what()), command_name(app)),
                  homa::tools::kExitUsage);
  } catch (const homa::tools::Failure& failure) {
    return report(app, failure.what(), failure.exit_code());
  } catch (const std::exception& error) {
    return report(app, error.what(), homa::tools::kExitFailed);
  }
}
