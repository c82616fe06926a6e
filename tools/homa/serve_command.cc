// `homa serve`: echo, or the files of a directory, read only.
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api_options.h"
#include "command.h"
#include "failure.h"
#include "file_server.h"
#include "file_tree.h"
#include "homa/server.h"
#include "parse.h"
#include "progress.h"
#include "serve_tally.h"
#include "signals.h"

namespace homa::tools {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  homa serve --echo --security clear\n"
    "  homa serve --files /srv/data --bind 192.0.2.1:4000 --security clear\n"
    "  homa serve --echo --bind [::1]:0 --wait poll --shards 2 --security clear\n"
    "\n"
    "With --files a request is a path below the directory, the response the bytes of that file. Nothing outside of "
    "the\n"
    "directory can be reached: no '..', no symbolic links. SIGINT or SIGTERM ends the server.";

struct Options {
  std::string bind = fmt::format(":{}", kDefaultPort);
  bool echo = false;
  std::string files;
  unsigned shards = 1;
  std::string max_message = "1GiB";
  ApiOptions api;
};

/// Bytes of files in memory at a time, unless one file may be longer. Enough for some clients at the rate of a fast
/// link, little beside what a server has.
constexpr std::uint64_t kFileMemory = std::uint64_t{256} << 20;

void answer_echo(ServeTally& tally, Request request) {
  tally.answering(request.message().size());
  request.reply(std::move(request.message()));
}

int serve(const Options& options) {
  if (options.echo == !options.files.empty()) throw usage_failure("give either --echo or --files DIRECTORY");
  stop_requested();
  ServerOptions server_options(security_of(options.api));
  server_options.bind = resolve_bind(options.bind, kDefaultPort);
  server_options.shards = options.shards;
  server_options.wait = wait_mode_of(options.api.wait);
  set_longest_message(server_options, options.max_message);
  ServeTally tally;
  std::optional<FileTree> tree;
  std::optional<FileServer> files;
  if (!options.files.empty()) {
    tree.emplace(options.files);
    files.emplace(*tree, tally, server_options.max_message_length, kFileMemory);
  }
  auto server = Server::start(server_options, [&](Request request) {
    tally.bytes_in += request.message().size();
    if (files) {
      files->answer(std::move(request));
    } else {
      answer_echo(tally, std::move(request));
    }
  });
  if (!server) throw to_failure(server.error(), "cannot listen");
  fmt::print("listening on {} ({}, {})\n", to_string(server->address()),
             tree ? fmt::format("files of {}", options.files) : "echo", options.api.security);
  std::fflush(stdout);
  wait_for_stop();
  server->stop();
  fmt::print("stopped: {} requests answered, {} refused, {} in, {} out\n", tally.answered.load(), tally.refused.load(),
             human_bytes(static_cast<double>(tally.bytes_in)), human_bytes(static_cast<double>(tally.bytes_out)));
  return kExitDone;
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("serve", "answer calls: echo them, or serve the files of a directory");
  command->add_option("--bind", options->bind, "address to listen on; port 0: any")->capture_default_str();
  command->add_flag("--echo", options->echo, "answer with the request");
  command->add_option("--files", options->files, "answer with files of this directory, read only");
  command->add_option("--shards", options->shards, "threads with a socket each")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--max-message", options->max_message, "longest message taken or sent")->capture_default_str();
  add_api_options(*command, options->api);
  command->footer(kExamples);
  command->callback([=, &action] { action = [=] { return serve(*options); }; });
}

}  // namespace homa::tools
