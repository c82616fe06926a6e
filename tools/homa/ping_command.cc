// `homa ping`: like ping(8), with percentiles. The far end is `homa serve --echo`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api_options.h"
#include "command.h"
#include "failure.h"
#include "histogram.h"
#include "homa/client.h"
#include "option_checks.h"
#include "parse.h"
#include "progress.h"
#include "signals.h"

namespace homa::tools {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  homa ping server:4000 --security clear\n"
    "  homa ping server:4000 -c 10000 -i 0 -q --wait poll --security clear\n"
    "\n"
    "Times are whole round trips of a call and its echo. The first one includes meeting the server.\n"
    "Exit code 1 when nothing was answered.";

struct Options {
  std::string server;
  std::uint64_t count = 0;
  std::string interval = "1s";
  std::string size = "100";
  std::string timeout = "1s";
  bool quiet = false;
  ApiOptions api;
};

struct Tally {
  Histogram times;
  std::uint64_t sent = 0;
  std::uint64_t answered = 0;
  std::optional<Error> last_error;
};

void ping_once(Client& client, const Options& options, const Address& server, Bytes request, Duration timeout,
               Tally& tally) {
  CallOptions call_options = CallOptions::within(timeout);
  call_options.idempotent = true;
  const std::uint64_t sequence = ++tally.sent;
  const auto begin = Clock::now();
  const auto response = client.call(server, request, call_options);
  const auto time = std::chrono::duration_cast<Duration>(Clock::now() - begin);
  if (response) {
    ++tally.answered;
    tally.times.record(time);
    if (!options.quiet) {
      fmt::print("{} B from {}: seq={} time={}\n", response->size(), to_string(server), sequence,
                 human_time(static_cast<double>(time.count())));
    }
  } else {
    tally.last_error = response.error();
    if (!options.quiet) fmt::print("seq={}: {}\n", sequence, response.error().message());
  }
  if (!options.quiet) std::fflush(stdout);
}

void print_summary(const Options& options, const Tally& tally, Duration elapsed) {
  const auto time = [](std::uint64_t ns) { return human_time(static_cast<double>(ns)); };
  fmt::print("\n--- {} homa ping statistics ---\n", options.server);
  fmt::print("{} calls, {} answered, {:.3g}% lost, time {:.1f} s\n", tally.sent, tally.answered,
             tally.sent == 0
                 ? 0.0
                 : 100.0 * static_cast<double>(tally.sent - tally.answered) / static_cast<double>(tally.sent),
             static_cast<double>(elapsed.count()) / 1e9);
  if (tally.answered == 0) return;
  fmt::print("round trip min/avg/p50/p99/max = {} / {} / {} / {} / {}\n", time(tally.times.smallest()),
             human_time(tally.times.mean()), time(tally.times.percentile(50)), time(tally.times.percentile(99)),
             time(tally.times.largest()));
}

int ping(const Options& options) {
  const auto& stop = stop_requested();
  const Address server = resolve_server(options.server, kDefaultPort);
  const Duration interval = require_duration("--interval", options.interval);
  const Duration timeout = require_positive_duration("--timeout", options.timeout);
  ClientOptions client_options(security_of(options.api));
  client_options.drive = Drive::caller;
  client_options.wait = wait_mode_of(options.api.wait);
  const std::uint64_t size = require_size("--size", options.size);
  if (size > client_options.max_message_length) {
    throw usage_failure(
        fmt::format("--size {} is over the limit of {} bytes", size, client_options.max_message_length));
  }
  auto client = Client::open(client_options);
  if (!client) throw to_failure(client.error(), "cannot open a socket");
  const std::vector<std::byte> request(size, std::byte{'p'});
  fmt::print("PING {} ({}): {} bytes\n", options.server, to_string(server), size);
  std::fflush(stdout);
  Tally tally;
  Progress progress;
  const auto begin = Clock::now();
  auto due = begin;
  while (!stop && (options.count == 0 || tally.sent < options.count)) {
    ping_once(*client, options, server, request, timeout, tally);
    if (options.quiet && progress.due()) progress.show(fmt::format("{} of {} answered", tally.answered, tally.sent));
    due = std::max(due + interval, Clock::now());
    if (options.count != 0 && tally.sent == options.count) break;
    // Between calls the client is still driven: acknowledgments are owed.
    for (auto at = Clock::now(); at < due && !stop; at = Clock::now())
      client->poll(std::min<Duration>(due - at, 100ms));
  }
  print_summary(options, tally, Clock::now() - begin);
  if (tally.answered > 0) return kExitDone;
  if (tally.last_error)
    throw Failure(fmt::format("no answer from {}: {}", options.server, tally.last_error->message()));
  return kExitFailed;
}

}  // namespace

void add_ping(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("ping", "time round trips, like ping(8)");
  command->add_option("server", options->server, "HOST:PORT of 'homa serve --echo'")->required();
  command->add_option("-c,--count", options->count, "stop after so many calls")->check(at_least(1));
  command->add_option("-i,--interval", options->interval, "time between calls; 0: at once")->capture_default_str();
  command->add_option("-s,--size", options->size, "bytes of each call")->capture_default_str();
  command->add_option("-W,--timeout", options->timeout, "time to wait for an answer")->capture_default_str();
  command->add_flag("-q,--quiet", options->quiet, "only the summary");
  add_api_options(*command, options->api);
  command->footer(kExamples);
  command->callback([=, &action] { action = [=] { return ping(*options); }; });
}

}  // namespace homa::tools
