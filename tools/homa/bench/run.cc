#include "bench/run.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "bench/udp_blast.h"
#include "failure.h"
#include "progress.h"

namespace homa::tools {
namespace {

std::optional<int> core_of(const RunSettings& settings, unsigned thread) {
  if (settings.cores.empty()) return std::nullopt;
  return settings.cores[thread % settings.cores.size()];
}

/// The calling end's clocks, spinners left out.
class NearEnd {
 public:
  explicit NearEnd(const RunSettings& settings) : cores_(settings.cores) {
    if (!settings.peer.spinner) return;
    for (unsigned i = 0; i < std::max<std::size_t>(cores_.size(), 1); ++i) {
      spinners_.push_back(std::make_unique<Spinner>(core_of(settings, i)));
    }
  }
  void begin() {
    meter_.emplace(cores_);
    burnt_before_ = burnt();
  }
  CpuTime finish() const {
    CpuTime time = meter_->stop();
    time.user = std::max(0.0, time.user - (burnt() - burnt_before_));
    return time;
  }

 private:
  double burnt() const {
    double sum = 0;
    for (const auto& spinner : spinners_) sum += spinner->burnt();
    return sum;
  }
  std::vector<int> cores_;
  std::vector<std::unique_ptr<Spinner>> spinners_;
  std::optional<CpuMeter> meter_;
  double burnt_before_ = 0;
};

/// One thread of load with its own peer. Failures are kept for the caller.
struct Worker {
  std::unique_ptr<Peer> peer;
  LoadSettings load;
  LoadResult result;
  std::exception_ptr failure;
  std::thread thread;
};

void run_workers(std::vector<Worker>& workers, const RunSettings& settings, const UnloadedLatency& unloaded,
                 const std::atomic<bool>& stop, std::atomic<std::uint64_t>& calls) {
  for (unsigned i = 0; i < workers.size(); ++i) {
    Worker& worker = workers[i];
    worker.thread = std::thread([&, i] {
      try {
        if (const auto core = core_of(settings, i)) pin_to_core(*core);
        std::uint64_t told = 0;
        worker.result = run_load(*worker.peer, worker.load, unloaded, stop, [&](std::uint64_t so_far) {
          calls += so_far - told;
          told = so_far;
        });
      } catch (...) {
        worker.failure = std::current_exception();
      }
    });
  }
  for (Worker& worker : workers) worker.thread.join();
  for (const Worker& worker : workers) {
    if (worker.failure) std::rethrow_exception(worker.failure);
  }
}

std::vector<Worker> make_workers(const RunSettings& settings, const Address& service) {
  std::vector<Worker> workers(settings.threads);
  for (unsigned i = 0; i < settings.threads; ++i) {
    Worker& worker = workers[i];
    worker.peer = make_peer(settings.peer, service, settings.connections);
    worker.load = settings.load;
    worker.load.seed = settings.load.seed + i;
    worker.load.rate /= settings.threads;
  }
  return workers;
}

/// Shows how far it is while `body` runs on another thread.
template <typename Body>
void with_progress(const RunSettings& settings, const std::atomic<std::uint64_t>& calls, Body&& body) {
  std::atomic<bool> finished{false};
  std::thread watcher([&] {
    Progress progress;
    while (!finished) {
      std::this_thread::sleep_for(50ms);
      if (!progress.due()) continue;
      progress.show(fmt::format("{}: {:.0f} of about {:.0f} s, {} calls", settings.peer.transport,
                                static_cast<double>(progress.elapsed().count()) / 1e9,
                                static_cast<double>((settings.warm_up + settings.load.duration).count()) / 1e9,
                                calls.load()));
    }
  });
  std::exception_ptr failure;
  try {
    body();
  } catch (...) {
    failure = std::current_exception();
  }
  finished = true;
  watcher.join();
  if (failure) std::rethrow_exception(failure);
}

void run_calls(RemoteService& remote, const RunSettings& settings, const std::atomic<bool>& stop, RunReport& report) {
  NearEnd near_end(settings);
  std::vector<Worker> workers = make_workers(settings, remote.address());
  std::atomic<std::uint64_t> calls{0};
  with_progress(settings, calls, [&] {
    UnloadedLatency unloaded;
    if (settings.load.by_size) unloaded = measure_unloaded(*workers[0].peer, settings.load);
    if (settings.warm_up > Duration{}) {
      for (Worker& worker : workers) {
        worker.load.duration = settings.warm_up;
        worker.load.count = 0;
        worker.load.drain = 30s;  // with much loss, TCP's timeouts take long
      }
      run_workers(workers, settings, unloaded, stop, calls);
      for (const Worker& worker : workers) {
        // The next run would take a late answer for one of its own.
        if (worker.result.unfinished > 0)
          throw Failure("calls of the warm-up got no answer; is something lost on the way?");
      }
    }
    for (Worker& worker : workers) {
      worker.load.duration = settings.load.duration;
      worker.load.drain = settings.load.drain;
      worker.load.count = (settings.load.count + settings.threads - 1) / settings.threads;
    }
    remote.begin();
    near_end.begin();
    run_workers(workers, settings, unloaded, stop, calls);
    report.near_cpu = near_end.finish();
  });
  report.far = remote.finish();
  report.load = std::move(workers[0].result);
  for (unsigned i = 1; i < workers.size(); ++i) report.load.merge(workers[i].result);
  const double seconds = static_cast<double>(report.load.elapsed.count()) / 1e9;
  if (seconds > 0) {
    report.gigabits_per_second = static_cast<double>(report.load.request_bytes) * 8 / 1e9 / seconds;
    report.calls_per_second = static_cast<double>(report.load.calls) / seconds;
  }
}

void run_blast(RemoteService& remote, const RunSettings& settings, RunReport& report) {
  NearEnd near_end(settings);
  std::exception_ptr failure;
  std::atomic<std::uint64_t> trains{0};
  with_progress(settings, trains, [&] {
    std::thread sender([&] {
      try {
        if (const auto core = core_of(settings, 0)) pin_to_core(*core);
        remote.begin();
        near_end.begin();
        const BlastResult result = blast(settings.peer, remote.address(), settings.load.duration);
        report.near_cpu = near_end.finish();
        report.sent_bytes = result.payload;
        report.load.elapsed = result.elapsed;
      } catch (...) {
        failure = std::current_exception();
      }
    });
    sender.join();
  });
  if (failure) std::rethrow_exception(failure);
  report.far = remote.finish();
  if (report.far.report.bytes == 0) throw Failure("udp-blast: nothing arrived; is the data port filtered?");
  const double seconds = static_cast<double>(report.far.report.busy.count()) / 1e9;
  if (seconds > 0) report.gigabits_per_second = static_cast<double>(report.far.report.bytes) * 8 / 1e9 / seconds;
}

double background_rate(const RunReport& report) {
  const double seconds = static_cast<double>(report.load.elapsed.count()) / 1e9;
  return seconds > 0 ? static_cast<double>(report.load.background_bytes) * 8 / 1e9 / seconds : 0;
}

nlohmann::json latency_json(const Histogram& latency) {
  nlohmann::json json = {
      {"count", latency.count()}, {"mean", latency.mean()}, {"min", latency.smallest()}, {"max", latency.largest()}};
  for (const double percent : {50.0, 90.0, 99.0, 99.9})
    json[fmt::format("p{:g}", percent)] = latency.percentile(percent);
  return json;
}

}  // namespace

RunReport run_bench(const Address& server, const RunSettings& settings, const std::atomic<bool>& stop) {
  check(settings.peer);
  RunReport report;
  RemoteService remote(server, settings.peer);
  if (settings.peer.transport == "udp-blast") {
    run_blast(remote, settings, report);
  } else {
    run_calls(remote, settings, stop, report);
    if (report.load.calls == 0)
      throw Failure("no call finished in the time given; is the data port filtered, or --duration too short?");
  }
  const std::uint64_t payload = settings.peer.transport == "udp-blast"
                                    ? report.far.report.bytes
                                    : report.load.request_bytes + report.load.background_bytes;
  const double gigabytes = static_cast<double>(payload) / 1e9;
  if (gigabytes > 0) report.cpu_per_gigabyte = (report.near_cpu.total() + report.far.cpu.total()) / gigabytes;
  return report;
}

nlohmann::json to_json(const RunSettings& settings, const RunReport& report) {
  nlohmann::json json = {{"settings", to_json(settings.peer)},
                         {"size", settings.load.sizes.name()},
                         {"loop", settings.load.rate > 0 ? "open" : "closed"},
                         {"outstanding", settings.load.outstanding},
                         {"offered_per_second", settings.load.rate},
                         {"threads", settings.threads},
                         {"elapsed_s", static_cast<double>(report.load.elapsed.count()) / 1e9},
                         {"gbit_per_s", report.gigabits_per_second},
                         {"calls_per_s", report.calls_per_second},
                         {"calls", report.load.calls},
                         {"failed", report.load.failed},
                         {"unfinished", report.load.unfinished},
                         {"latency_ns", latency_json(report.load.latency)},
                         {"background", settings.load.background},
                         {"background_size", settings.load.background_size},
                         {"background_gbit_per_s", background_rate(report)},
                         {"background_latency_ns", latency_json(report.load.background_latency)},
                         {"near_cpu", to_json(report.near_cpu)},
                         {"far_cpu", to_json(report.far.cpu)},
                         {"cpu_s_per_gb", report.cpu_per_gigabyte},
                         {"received_bytes", report.far.report.bytes},
                         {"dropped", report.far.report.dropped}};
  if (settings.peer.transport == "udp-blast") json["sent_bytes"] = report.sent_bytes;
  for (const SizeBucket& bucket : report.load.buckets) {
    json["by_size"].push_back({{"up_to", bucket.up_to},
                               {"latency_ns", latency_json(bucket.latency)},
                               {"slowdown_p50", static_cast<double>(bucket.slowdown_permille.percentile(50)) / 1000},
                               {"slowdown_p99", static_cast<double>(bucket.slowdown_permille.percentile(99)) / 1000}});
  }
  return json;
}

void print_table(std::FILE* out, const RunSettings& settings, const RunReport& report) {
  const auto time = [](std::uint64_t ns) { return human_time(static_cast<double>(ns)); };
  const Histogram& latency = report.load.latency;
  const std::string wait = fmt::format("{}{}", to_text(settings.peer.wait), settings.peer.spinner ? "+spin" : "");
  fmt::print(out, "{:<10} {:<10} {:>10} {:>9} {:>10}  {:>9} {:>9} {:>9} {:>9} {:>10}\n", "transport", "wait", "size",
             "Gbit/s", "calls/s", "p50", "p99", "p99.9", "max", "cpu s/GB");
  if (settings.peer.transport == "udp-blast") {
    fmt::print(out, "{:<10} {:<10} {:>10} {:>9.2f} {:>10}  {:>9} {:>9} {:>9} {:>9} {:>10.3f}\n", "udp-blast", wait,
               fmt::format("{} B", settings.peer.segment), report.gigabits_per_second, "-", "-", "-", "-", "-",
               report.cpu_per_gigabyte);
    fmt::print(out, "received {} of {} payload, {} datagrams dropped at the socket\n",
               human_bytes(static_cast<double>(report.far.report.bytes)),
               human_bytes(static_cast<double>(report.sent_bytes)), report.far.report.dropped);
    return;
  }
  fmt::print(out, "{:<10} {:<10} {:>10} {:>9.2f} {:>10.0f}  {:>9} {:>9} {:>9} {:>9} {:>10.3f}\n",
             settings.peer.transport, wait, settings.load.sizes.name(), report.gigabits_per_second,
             report.calls_per_second, time(latency.percentile(50)), time(latency.percentile(99)),
             time(latency.percentile(99.9)), time(latency.largest()), report.cpu_per_gigabyte);
  if (settings.load.background > 0) {
    fmt::print(out, "beside it {} calls of {} at a time: {:.2f} Gbit/s, p50 {}\n", settings.load.background,
               human_bytes(static_cast<double>(settings.load.background_size)), background_rate(report),
               time(report.load.background_latency.percentile(50)));
  }
  if (report.load.failed + report.load.unfinished > 0) {
    fmt::print(out, "{} calls failed, {} had no answer a second after the end\n", report.load.failed,
               report.load.unfinished);
  }
  if (report.load.buckets.empty()) return;
  fmt::print(out, "\n{:>12} {:>9}  {:>9} {:>9}  {:>12} {:>12}\n", "size up to", "calls", "p50", "p99", "slowdown p50",
             "slowdown p99");
  for (const SizeBucket& bucket : report.load.buckets) {
    fmt::print(out, "{:>12} {:>9}  {:>9} {:>9}  {:>12.2f} {:>12.2f}\n", bucket.up_to, bucket.latency.count(),
               time(bucket.latency.percentile(50)), time(bucket.latency.percentile(99)),
               static_cast<double>(bucket.slowdown_permille.percentile(50)) / 1000,
               static_cast<double>(bucket.slowdown_permille.percentile(99)) / 1000);
  }
}

}  // namespace homa::tools
