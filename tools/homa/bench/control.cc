#include "bench/control.h"

#include <cerrno>
#include <exception>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "failure.h"

namespace homa::tools {
namespace {

constexpr std::size_t kMaxLine = 64 * 1024;
constexpr Duration kAnswerTime = 10s;
constexpr Duration kStopCheck = 100ms;

/// One run at the server: a service on a thread of its own while the control connection lives.
class Run {
 public:
  Run(const PeerSettings& settings, const Address& bind, std::optional<int> core)
      : core_(core), service_(make_service(settings, bind)) {
    if (settings.spinner) spinner_ = std::make_unique<Spinner>(core);
    thread_ = std::thread([this] {
      try {
        if (core_) pin_to_core(*core_);
        service_->run(stop_);
      } catch (const std::exception& error) {
        failure_ = error.what();
      }
    });
    begin();
  }
  ~Run() { stop(); }
  std::uint16_t port() const { return service_->port(); }
  void begin() {
    meter_.emplace(core_ ? std::vector<int>{*core_} : std::vector<int>{});
    burnt_before_ = spinner_ ? spinner_->burnt() : 0;
  }
  nlohmann::json finish() {
    CpuTime cpu = meter_->stop();
    if (spinner_) cpu.user -= spinner_->burnt() - burnt_before_;
    stop();
    if (!failure_.empty()) return {{"error", failure_}};
    const ServiceReport report = service_->report();
    nlohmann::json answer = {{"messages", report.messages},
                             {"bytes", report.bytes},
                             {"busy_ns", report.busy.count()},
                             {"dropped", report.dropped},
                             {"cpu", to_json(cpu)}};
    if (core_) answer["core"] = *core_;
    return answer;
  }

 private:
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::optional<int> core_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Spinner> spinner_;
  std::optional<CpuMeter> meter_;
  double burnt_before_ = 0;
  std::atomic<bool> stop_{false};
  std::string failure_;
  std::thread thread_;
};

nlohmann::json answer_to(const nlohmann::json& request, std::unique_ptr<Run>& run, const Address& bind,
                         std::optional<int> core, const std::function<void(const std::string&)>& say) {
  const std::string verb = request.value("do", "");
  if (verb == "open") {
    const PeerSettings settings = settings_from_json(request.value("settings", nlohmann::json::object()));
    run = std::make_unique<Run>(settings, bind, core);
    say(fmt::format("{} run ({})", settings.transport, to_text(settings.wait)));
    return {{"port", run->port()}};
  }
  if (!run) return {{"error", "no run is open"}};
  if (verb == "begin") {
    run->begin();
    return nlohmann::json::object();
  }
  if (verb == "finish") return run->finish();
  return {{"error", fmt::format("unknown request '{}'; use the same version at both ends", verb)}};
}

void serve_one(FileDescriptor socket, std::optional<int> core, const std::atomic<bool>& stop,
               const std::function<void(const std::string&)>& say) {
  Address bind = local_address(socket);  // the service answers where it was asked
  bind.port = 0;
  ControlLine line(std::move(socket));
  std::unique_ptr<Run> run;
  while (!stop) {
    pollfd ready{line.socket().get(), POLLIN, 0};
    wait_ready(&ready, 1, kStopCheck);
    if (ready.revents == 0) continue;
    const auto request = line.receive(kAnswerTime);
    if (!request) return;
    nlohmann::json answer;
    try {
      answer = answer_to(*request, run, bind, core, say);
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    line.send(answer);
  }
}

}  // namespace

void ControlLine::send(const nlohmann::json& message) {
  const std::string text = message.dump() + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t size = ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (size > 0) {
      sent += static_cast<std::size_t>(size);
    } else if (errno == EAGAIN || errno == EINTR) {
      pollfd ready{socket_.get(), POLLOUT, 0};
      wait_ready(&ready, 1, kStopCheck);
    } else {
      throw Failure("the control connection broke; see what the other end printed");
    }
  }
}

std::optional<nlohmann::json> ControlLine::receive(Duration most) {
  const Time until = now() + most;
  while (true) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      const auto message = nlohmann::json::parse(buffer_.substr(0, end), nullptr, false);
      buffer_.erase(0, end + 1);
      if (!message.is_object()) throw Failure("the other end does not speak the protocol of 'homa bench'");
      return message;
    }
    char chunk[4096];
    const ssize_t size = ::recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (size > 0) buffer_.append(chunk, static_cast<std::size_t>(size));
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return std::nullopt;
    if (buffer_.size() > kMaxLine) throw Failure("the other end does not speak the protocol of 'homa bench'");
    if (size > 0) continue;
    if (now() >= until) throw Failure("the other end of the bench does not answer");
    pollfd ready{socket_.get(), POLLIN, 0};
    wait_ready(&ready, 1, std::min<Duration>(until - now(), kStopCheck));
  }
}

RemoteService::RemoteService(const Address& server, const PeerSettings& settings) : line_(connect_tcp(server)) {
  const nlohmann::json answer = exchange({{"do", "open"}, {"settings", to_json(settings)}});
  address_ = peer_address(line_.socket());
  address_.port = answer.value("port", std::uint16_t{0});
}

void RemoteService::begin() {
  exchange({{"do", "begin"}});
}

FarEnd RemoteService::finish() {
  const nlohmann::json answer = exchange({{"do", "finish"}});
  FarEnd end;
  end.report.messages = answer.value("messages", std::uint64_t{0});
  end.report.bytes = answer.value("bytes", std::uint64_t{0});
  end.report.busy = Duration(answer.value("busy_ns", Duration::rep{0}));
  end.report.dropped = answer.value("dropped", std::uint64_t{0});
  end.cpu = cpu_from_json(answer.value("cpu", nlohmann::json::object()));
  if (answer.contains("core")) end.core = answer["core"].get<int>();
  return end;
}

nlohmann::json RemoteService::exchange(const nlohmann::json& request) {
  line_.send(request);
  const auto answer = line_.receive(kAnswerTime);
  if (!answer) throw Failure("the bench server closed the control connection; see what it printed");
  if (answer->contains("error")) throw Failure(fmt::format("the bench server says: {}", answer->value("error", "")));
  return *answer;
}

void serve_runs(const FileDescriptor& listener, std::optional<int> core, const std::atomic<bool>& stop,
                const std::function<void(const std::string&)>& say) {
  while (!stop) {
    pollfd ready{listener.get(), POLLIN, 0};
    wait_ready(&ready, 1, kStopCheck);
    FileDescriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) continue;
    try {
      serve_one(std::move(socket), core, stop, say);
    } catch (const std::exception& error) {
      say(error.what());
    }
  }
}

}  // namespace homa::tools
