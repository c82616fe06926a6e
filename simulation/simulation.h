// One run: a fabric, its hosts, a generator, and what watches them.
//
// Time of a run:  start ... warm_up ... measured (messages that start here count) ... until those are delivered.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "simulation/backlog_trend.h"
#include "simulation/fabric.h"
#include "simulation/message_ledger.h"
#include "simulation/oracle.h"
#include "simulation/protocol_host.h"
#include "simulation/recorder.h"
#include "simulation/run.h"
#include "simulation/traffic.h"
#include "simulation/unloaded.h"

namespace homa::simulation {

class Simulation final : public HostListener, public MessageStarter {
 public:
  /// Precondition: the spec has no fault, and the topology has what its generator needs.
  Simulation(const RunSpec& spec, const Topology& topology, const Workload& workload);
  RunResult run(const ProgressCallback& progress);

  void start_message(const Start& start) override;
  void one_way_arrived(ProtocolHost& host, std::uint32_t source, std::uint64_t length, Time when) override;
  void request_arrived(ProtocolHost& host, protocol::RequestId request, std::uint64_t length) override;
  void finished(ProtocolHost& host, std::uint64_t cookie, protocol::CallStatus status, std::uint64_t length,
                Time when) override;

 private:
  enum class Phase : std::uint8_t { warming_up, measuring, draining };
  struct Flow {
    std::string name;
    std::uint32_t source;
    std::uint32_t destination;
    std::uint64_t delivered = 0;  ///< bytes after warm-up
    std::uint64_t started = 0;
    bool has(std::uint32_t from, std::uint32_t to) const {
      return source == ~0u || (source == from && destination == to);
    }
  };

  void plan();
  void make_traffic();
  void advance_to(Time end, const ProgressCallback& progress);
  bool all_delivered() const { return phase_ == Phase::draining && recorder_.count() >= measured_started_; }
  bool is_done() const { return all_delivered() && now() >= watched_until_; }
  void sample_backlog();
  Backlog judge_backlog() const;
  void report(const ProgressCallback& progress);
  void delivered(const MessageRecord& record, Time when);
  Duration unloaded(const MessageRecord& record);
  RunResult result();
  void report_ports(RunResult& result, double measured_s) const;
  Time now() const { return fabric_->loop().now(); }

  const RunSpec spec_;
  const Topology topology_;
  const Workload workload_;
  PayloadSpace space_;
  HostSetting setting_;
  std::deque<ProtocolHost> hosts_;
  std::unique_ptr<Fabric> fabric_;
  UnloadedTimes unloaded_;
  std::unique_ptr<Oracle> oracle_;  ///< instead of what the hosts would do
  std::vector<std::unique_ptr<Traffic>> traffic_;
  MessageLedger ledger_;
  Recorder recorder_;
  BacklogTrend trend_;
  std::vector<Flow> flows_;

  Phase phase_ = Phase::warming_up;
  double bytes_per_second_ = 0;  ///< offered by each host
  Duration relaxation_{0};
  Duration memory_{0};  ///< of the backlog: also the few largest messages under way must have come and gone
  Duration sample_interval_{0};
  Time warm_up_{};
  Time watched_until_{};
  Time end_{};
  bool over_ = false;
  RunEnd how_ended_ = RunEnd::complete;
  std::uint64_t started_ = 0;
  std::uint64_t measured_started_ = 0;
  std::uint64_t bytes_started_ = 0;    ///< after warm-up
  std::uint64_t bytes_delivered_ = 0;  ///< after warm-up
  std::uint64_t failed_ = 0;
  std::chrono::steady_clock::time_point last_report_{};
};

}  // namespace homa::simulation
