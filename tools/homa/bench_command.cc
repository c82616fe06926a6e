// `homa bench`: serve, run, calibrate.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/calibrate.h"
#include "bench/control.h"
#include "bench/run.h"
#include "bench/sizes.h"
#include "command.h"
#include "failure.h"
#include "homa/address.h"
#include "option_checks.h"
#include "parse.h"
#include "signals.h"

namespace homa::tools {
namespace {

constexpr const char* kBenchExamples =
    "Examples:\n"
    "  homa bench serve --bind :4000 --core 0\n"
    "  homa bench run server:4000 --transport homa --size 1MB --outstanding 8 --core 1\n"
    "  homa bench run server:4000 --transport tcp --size w4 --rate 5000 --duration 10s --by-size\n"
    "  homa bench run server:4000 --transport udp-echo --size 100 --wait block --spinner --json\n"
    "\n"
    "One 'bench serve' serves every transport: the client asks for it over a TCP connection at the same port; data "
    "goes\n"
    "over a port that the system chooses. Traffic is in clear.\n"
    "CPU time is user + system + softirq of both ends' cores (give --core at both ends), a spinning wait included.";

struct ServeOptions {
  std::string bind = fmt::format(":{}", kDefaultPort);
  std::optional<int> core;
};

int bench_serve(const ServeOptions& options) {
  const auto& stop = stop_requested();
  const FileDescriptor listener = listen_tcp(resolve_bind(options.bind, kDefaultPort));
  fmt::print("bench: listening on {}\n", to_string(local_address(listener)));
  std::fflush(stdout);
  std::uint64_t lines = 0;
  serve_runs(listener, options.core, stop, [&](const std::string& line) {
    ++lines;
    fmt::print("bench: {}\n", line);
    std::fflush(stdout);
  });
  fmt::print("bench: stopped\n");
  return kExitDone;
}

struct RunOptions {
  std::string server;
  std::string size = "100";
  std::string response = "8";
  std::string duration = "5s";
  std::string warm_up = "500ms";
  std::string wait = "poll";
  std::string background_size = "10MB";
  std::string segment;
  std::string train;
  std::string label;
  bool json = false;
  RunSettings run;
};

void check_lengths(const RunSettings& run) {
  const std::pair<const char*, std::uint64_t> lengths[] = {
      {"--size", run.load.sizes.largest()},
      {"--response", run.peer.response_same ? 0 : run.peer.response_bytes},
      {"--background-size", run.load.background > 0 ? run.load.background_size : 0}};
  for (const auto& [option, bytes] : lengths) {
    if (bytes <= run.peer.max_message) continue;
    throw usage_failure(fmt::format("messages of {} bytes are over the limit of {}; lower {} or raise --max-message",
                                    bytes, run.peer.max_message, option));
  }
}

int bench_run(RunOptions& options) {
  RunSettings& run = options.run;
  run.load.sizes = parse_sizes(options.size);
  run.load.duration = require_positive_duration("--duration", options.duration);
  run.warm_up = require_duration("--warm-up", options.warm_up);
  run.peer.wait = parse_wait(options.wait);
  run.peer.response_same = options.response == "same";
  if (!run.peer.response_same) run.peer.response_bytes = require_size("--response", options.response);
  if (!options.segment.empty()) run.peer.segment = static_cast<int>(require_size("--segment", options.segment));
  if (!options.train.empty()) run.peer.train = static_cast<int>(require_size("--train", options.train));
  run.load.background_size = require_size("--background-size", options.background_size);
  if (run.load.background_size == 0) throw usage_failure("--background-size must be at least 1");
  if (run.load.rate > 0 && run.load.outstanding == 1)
    run.load.outstanding = 4096;  // an open loop must not close itself
  check_lengths(run);
  const RunReport report = run_bench(resolve_server(options.server, kDefaultPort), run, stop_requested());
  if (options.json) {
    nlohmann::json json = to_json(run, report);
    if (!options.label.empty()) json["label"] = options.label;
    fmt::print("{}\n", json.dump());
  } else {
    print_table(stdout, run, report);
  }
  return report.load.failed > 0 ? kExitFailed : kExitDone;
}

int bench_calibrate(bool json, std::optional<int> core) {
  if (core) pin_to_core(*core);
  const Calibration result = calibrate();
  if (json) {
    fmt::print("{}\n",
               nlohmann::json({{"alu_ns", result.alu_nanoseconds}, {"memcpy_gb_per_s", result.copy_gigabytes}}).dump());
  } else {
    fmt::print("ALU loop {:.3f} ns per step, memcpy of 32 MiB {:.2f} GB/s\n", result.alu_nanoseconds,
               result.copy_gigabytes);
  }
  return kExitDone;
}

void add_run_options(CLI::App& run, RunOptions& options) {
  PeerSettings& peer = options.run.peer;
  LoadSettings& load = options.run.load;
  run.add_option("server", options.server, "HOST:PORT of 'homa bench serve'")->required();
  run.add_option("--transport", peer.transport, "homa, tcp, udp-blast or udp-echo")
      ->check(CLI::IsMember({"homa", "tcp", "udp-blast", "udp-echo"}))
      ->capture_default_str();
  run.add_option("--size", options.size, "request bytes (100, 64k, 1MB), or a size file, or w1 .. w5")
      ->capture_default_str();
  run.add_option("--response", options.response, "response bytes, or 'same' as the request")->capture_default_str();
  run.add_option("--outstanding", load.outstanding,
                 "closed loop: calls under way per thread; open loop: at most (4096)")
      ->check(at_least(1))
      ->capture_default_str();
  run.add_option("--background", load.background,
                 "calls of --background-size always under way beside the measured ones")
      ->check(at_least(0))
      ->capture_default_str();
  run.add_option("--background-size", options.background_size, "request bytes of those")->capture_default_str();
  run.add_option("--rate", load.rate, "open loop: calls per second, Poisson, all threads together")->check(at_least(0));
  run.add_option("--duration", options.duration, "measured time")->capture_default_str();
  run.add_option("--count", load.count, "end after so many calls (0: by time)")->check(at_least(0));
  run.add_option("--warm-up", options.warm_up, "time before measuring")->capture_default_str();
  run.add_option("--threads", options.run.threads, "client threads, each with connections of its own")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  run.add_option("--connections", options.run.connections, "tcp: connections per thread")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  run.add_option("--wait", options.wait, "both ends: poll (spin), adaptive (homa only, spin then sleep) or block")
      ->check(CLI::IsMember({"poll", "adaptive", "block"}))
      ->capture_default_str();
  run.add_flag("--spinner", peer.spinner, "keep both cores awake with a SCHED_IDLE spinner (for --wait block)");
  run.add_option("--core", options.run.cores, "core of each client thread, comma separated")->delimiter(',');
  run.add_option("--congestion", peer.congestion, "tcp: congestion control of both ends")->capture_default_str();
  run.add_option("--segment", options.segment, "udp-blast: UDP payload of a packet [1452]");
  run.add_option("--train", options.train, "udp-blast: bytes of one segmented send [63000]");
  run.add_option("--shards", peer.shards, "homa: shards of the server")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  run.add_option("--max-message", peer.max_message, "longest message, bytes")
      ->check(at_least(1))
      ->capture_default_str();
  run.add_flag("--by-size", load.by_size, "slowdown (latency / unloaded latency) for ten sizes");
  run.add_option("--seed", load.seed, "of sizes and arrivals")->check(at_least(0))->capture_default_str();
  run.add_flag("--json", options.json, "one JSON object instead of a table; times in ns");
  run.add_option("--label", options.label, "copied into the JSON");
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* bench = app.add_subcommand("bench", "measure homa beside TCP and bare UDP");
  bench->require_subcommand(1);
  bench->footer(kBenchExamples);

  const auto serve_options = std::make_shared<ServeOptions>();
  CLI::App* serve = bench->add_subcommand("serve", "the far end, for every transport");
  serve->add_option("--bind", serve_options->bind, "address to listen on")->capture_default_str();
  serve->add_option("--core", serve_options->core, "core to run on");
  serve->footer("Example:\n  homa bench serve --bind 192.0.2.1:4000 --core 0");
  serve->callback([=, &action] { action = [=] { return bench_serve(*serve_options); }; });

  const auto run_options = std::make_shared<RunOptions>();
  CLI::App* run = bench->add_subcommand("run", "one measurement against a far end");
  add_run_options(*run, *run_options);
  run->footer(kBenchExamples);
  run->callback([=, &action] { action = [=] { return bench_run(*run_options); }; });

  const auto json = std::make_shared<bool>(false);
  const auto core = std::make_shared<std::optional<int>>();
  CLI::App* calibration = bench->add_subcommand("calibrate", "how fast this core is right now: ALU and memcpy");
  calibration->add_flag("--json", *json, "one JSON object");
  calibration->add_option("--core", *core, "core to run on");
  calibration->footer("Example:\n  homa bench calibrate --core 1");
  calibration->callback([=, &action] { action = [=] { return bench_calibrate(*json, *core); }; });
}

}  // namespace homa::tools
