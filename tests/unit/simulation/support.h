// A few hosts of a fabric, for tests of single messages.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "simulation/fabric.h"
#include "simulation/policy.h"
#include "simulation/protocol_host.h"

namespace homa::simulation {

/// All hosts of a topology under one config; notes what arrives.
class HostsUnderTest final : public HostListener {
 public:
  struct Arrival {
    std::uint32_t host;
    std::uint32_t source;
    std::uint64_t length;
    Time when;
  };

  HostsUnderTest(const Topology& topology, const protocol::Config& config) : space_(std::uint64_t{1} << 30) {
    setting_.config = config;
    setting_.native = config.carrier == protocol::Carrier::native;
    setting_.space = &space_;
    setting_.listener = this;
    std::vector<sim::EventTarget*> targets;
    for (std::uint32_t i = 0; i < topology.hosts(); ++i) setting_.addresses.push_back(address_of_host(i));
    for (std::uint32_t i = 0; i < topology.hosts(); ++i) targets.push_back(&hosts_.emplace_back(i, i + 1, setting_));
    fabric_ = std::make_unique<Fabric>(topology, targets, 1);
    for (ProtocolHost& host : hosts_) host.attach(*fabric_);
  }

  void one_way_arrived(ProtocolHost& host, std::uint32_t source, std::uint64_t length, Time when) override {
    arrivals.push_back({host.number(), source, length, when});
  }
  void request_arrived(ProtocolHost& host, protocol::RequestId request, std::uint64_t length) override {
    host.reply(request, length);
  }
  void finished(ProtocolHost& host, std::uint64_t, protocol::CallStatus status, std::uint64_t length,
                Time when) override {
    EXPECT_EQ(status, protocol::CallStatus::ok);
    finishes.push_back({host.number(), 0, length, when});
  }

  ProtocolHost& host(std::uint32_t number) { return hosts_[number]; }
  sim::EventLoop& loop() { return fabric_->loop(); }
  /// Until nothing is pending, or for `longest`.
  void run(Duration longest = 1s) { loop().run_until(loop().now() + longest); }

  std::vector<Arrival> arrivals;
  std::vector<Arrival> finishes;

 private:
  PayloadSpace space_;
  HostSetting setting_;
  std::deque<ProtocolHost> hosts_;
  std::unique_ptr<Fabric> fabric_;
};

inline Topology paper_network() {
  auto topology = load_topology("homa18");
  EXPECT_TRUE(topology) << topology.error;
  return *topology;
}

inline protocol::Config paper_config(const Topology& topology) {
  RunSpec spec;
  return endpoint_config(spec, topology, *Workload::load("w4"));
}

}  // namespace homa::simulation
