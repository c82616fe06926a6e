#include "bench/cpu_usage.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "failure.h"

namespace homa::tools {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

CpuTime read_process() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {seconds(usage.ru_utime), seconds(usage.ru_stime), 0};
}

CpuTime read_core(int core) {
  std::ifstream stat("/proc/stat");
  const std::string wanted = fmt::format("cpu{} ", core);
  for (std::string line; std::getline(stat, line);) {
    if (line.rfind(wanted, 0) != 0) continue;
    std::istringstream fields(line.substr(wanted.size()));
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
    fields >> user >> nice >> system >> idle >> iowait >> irq >> softirq;
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    return {(user + nice) / ticks, (system + irq) / ticks, softirq / ticks};
  }
  return {};
}

}  // namespace

nlohmann::json to_json(const CpuTime& time) {
  return {{"user_s", time.user}, {"system_s", time.system}, {"softirq_s", time.softirq}, {"total_s", time.total()}};
}

CpuTime cpu_from_json(const nlohmann::json& json) {
  return {json.value("user_s", 0.0), json.value("system_s", 0.0), json.value("softirq_s", 0.0)};
}

void pin_to_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    throw usage_failure(
        fmt::format("core {} cannot be used; this machine has cores 0..{}", core, ::sysconf(_SC_NPROCESSORS_ONLN) - 1));
  }
}

CpuMeter::CpuMeter(std::vector<int> cores) : cores_(std::move(cores)), begin_(read()) {}

CpuTime CpuMeter::read() const {
  if (cores_.empty()) return read_process();
  CpuTime sum;
  for (const int core : cores_) {
    const CpuTime time = read_core(core);
    sum.user += time.user;
    sum.system += time.system;
    sum.softirq += time.softirq;
  }
  return sum;
}

CpuTime CpuMeter::stop() const {
  const CpuTime end = read();
  return {end.user - begin_.user, end.system - begin_.system, end.softirq - begin_.softirq};
}

Spinner::Spinner(std::optional<int> core)
    : thread_([this, core] {
        if (core) pin_to_core(*core);
        const sched_param parameter{};
        ::pthread_setschedparam(::pthread_self(), SCHED_IDLE, &parameter);
        while (!stop_.load(std::memory_order_relaxed)) {
        }
      }) {}

Spinner::~Spinner() {
  stop_ = true;
  thread_.join();
}

double Spinner::burnt() const {
  clockid_t clock{};
  timespec time{};
  if (::pthread_getcpuclockid(const_cast<std::thread&>(thread_).native_handle(), &clock) != 0) return 0;
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace homa::tools
