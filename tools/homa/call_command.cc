// `homa call`: one call, stdin or a file out, stdout or a file back.
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api_options.h"
#include "byte_files.h"
#include "command.h"
#include "failure.h"
#include "homa/client.h"
#include "parse.h"
#include "progress.h"
#include "signals.h"

namespace homa::tools {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  echo hello | homa call server:4000 --security clear\n"
    "  homa call server:4000 --data reports/may.csv --out may.csv --security clear     (from 'homa serve --files')\n"
    "  homa call server:4000 --in request.bin --out answer.bin --deadline 5s --class 1 --security clear\n"
    "\n"
    "The output appears only when the whole response is there; after an error nothing is left of it.";

struct Options {
  std::string server;
  std::string in = "-";
  std::string out = "-";
  std::optional<std::string> data;
  std::string deadline;
  unsigned message_class = 0;
  bool idempotent = false;
  std::string max_message = "1GiB";
  ApiOptions api;
};

std::uint64_t counter(const Client& client, std::string_view name) {
  for (const Counter& candidate : client.stats()) {
    if (candidate.name == name) return candidate.value;
  }
  return 0;
}

/// Drives the client until the call has ended.
Result<Message> drive(Client& client, const Address& server, Bytes request, const CallOptions& call_options) {
  std::optional<Result<Message>> outcome;
  const std::array<Bytes, 1> pieces = {request};  // not copied: `request` outlives the client
  auto token = client.call(server, Gather{pieces, [] {}}, call_options,
                           [&](Result<Message> result) { outcome.emplace(std::move(result)); });
  if (!token) return token.error();
  Progress progress;
  bool given_up = false;
  while (!outcome) {
    client.poll(100ms);
    if (stop_requested() && !std::exchange(given_up, true)) client.cancel(*token);
    if (!progress.due()) continue;
    progress.show(fmt::format("{:.0f} s: {} sent, {} received", static_cast<double>(progress.elapsed().count()) / 1e9,
                              human_bytes(static_cast<double>(counter(client, "bytes_sent"))),
                              human_bytes(static_cast<double>(counter(client, "bytes_received")))));
  }
  return std::move(*outcome);
}

int call(const Options& options) {
  stop_requested();
  ClientOptions client_options(security_of(options.api));
  client_options.drive = Drive::caller;
  client_options.wait = wait_mode_of(options.api.wait);
  set_longest_message(client_options, options.max_message);
  CallOptions call_options;
  call_options.message_class = static_cast<std::uint8_t>(options.message_class);
  call_options.idempotent = options.idempotent;
  const bool limited = !options.deadline.empty();
  const Duration limit = limited ? require_positive_duration("--deadline", options.deadline) : Duration::zero();
  const Address server = resolve_server(options.server, kDefaultPort);
  OutputFile output(options.out);
  std::vector<std::byte> input;
  if (!options.data) input = read_input(options.in, client_options.max_message_length);
  const Bytes request = options.data ? as_bytes(*options.data) : Bytes(input);
  auto client = Client::open(client_options);
  if (!client) throw to_failure(client.error(), "cannot open a socket");
  if (limited) call_options.deadline = CallOptions::within(limit).deadline;  // time to read stdin does not count
  auto response = drive(*client, server, request, call_options);
  if (!response) {
    if (stop_requested() && response.error() == ErrorCode::cancelled) throw Failure("interrupted");
    throw to_failure(response.error(), fmt::format("call to {}", options.server));
  }
  output.commit(response->data(), response->size());
  return kExitDone;
}

}  // namespace

void add_call(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("call", "send a request, write the response");
  command->add_option("server", options->server, "HOST:PORT")->required();
  CLI::Option* in = command->add_option("--in", options->in, "file with the request; -: stdin")->capture_default_str();
  command->add_option("--data", options->data, "the request itself, as text")->excludes(in);
  command->add_option("--out", options->out, "file for the response; -: stdout")->capture_default_str();
  command->add_option("--deadline", options->deadline, "give up after this time (5s, 250ms); default: never");
  command->add_option("--class", options->message_class, "0 (most urgent) .. 255")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  command->add_flag("--idempotent", options->idempotent, "the call may run more than once: saves a round trip");
  command->add_option("--max-message", options->max_message, "longest message taken or sent")->capture_default_str();
  add_api_options(*command, options->api);
  command->footer(kExamples);
  command->callback([=, &action] { action = [=] { return call(*options); }; });
}

}  // namespace homa::tools
