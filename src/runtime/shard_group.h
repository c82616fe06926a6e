// The shards of one client or server: opens the sockets, starts and stops the threads, sums the counters.
//
// Threads: open(), stop() and destruction from one thread; the rest from any. Ownership: owns everything below it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "homa/error.h"
#include "homa/options.h"
#include "homa/stats.h"
#include "net/port_guard.h"
#include "protocol/budget.h"
#include "runtime/shard.h"

namespace homa::runtime {

struct GroupSettings {
  protocol::Config config;  ///< shard, incarnation and budgets are filled in
  PriorityMap priorities;
  Drive drive = Drive::own_threads;
  WaitMode wait = WaitMode::adaptive;
  Duration spin = 50us;
  unsigned shards = 1;
  std::vector<int> cores;
  std::string thread_name;
  Address bind;
  std::size_t receive_buffer = 0;
  std::size_t send_buffer = 0;
  /// All shards listen at one port (a server); else each has its own (a client).
  bool one_port = false;
};

class ShardGroup {
 public:
  /// `observer` outlives the group; null for a client.
  static Result<std::unique_ptr<ShardGroup>> open(const GroupSettings& settings, RequestObserver* observer);
  ~ShardGroup();
  ShardGroup(const ShardGroup&) = delete;
  ShardGroup& operator=(const ShardGroup&) = delete;

  std::size_t size() const { return shards_.size(); }
  ShardLink& link(std::size_t i) { return *links_[i]; }
  Address local_address(std::size_t i) const { return addresses_[i]; }
  bool caller_driven() const { return drive_ == Drive::caller; }
  /// Only when caller_driven(), by the thread that drives.
  Shard& driven() { return *shards_[0]; }
  /// The shard for the calling thread: the one whose turn it is in, else always the same one.
  std::size_t choose() const;
  /// Runs `function` on each shard in its own thread, one after the other, and waits. Nothing after stop().
  Stats stats();

  /// Ends all shards. Idempotent. Not from inside a turn of one of them.
  void stop();

 private:
  explicit ShardGroup(const GroupSettings& settings);
  Result<void> open_sockets(const GroupSettings& settings, std::vector<net::UdpSocket>& sockets);
  void make_shards(const GroupSettings& settings, std::vector<net::UdpSocket> sockets, RequestObserver* observer);
  Result<void> start_threads(const GroupSettings& settings);

  const Drive drive_;
  protocol::SharedBudget memory_;
  protocol::SharedBudget incoming_;
  std::optional<net::PortGuard> guard_;
  std::vector<ShardLink*> links_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<Address> addresses_;
  std::vector<std::thread> threads_;
  bool stopped_ = false;
};

}  // namespace homa::runtime
