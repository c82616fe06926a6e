#include "runtime/shard_group.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <utility>

#include "net/capabilities.h"
#include "net/steering.h"
#include "runtime/random_seed.h"

namespace homa::runtime {
namespace {

ErrorCode code_of(net::NetErrorKind kind) {
  using Kind = net::NetErrorKind;
  switch (kind) {
    case Kind::address_in_use:
      return ErrorCode::address_in_use;
    case Kind::no_permission:
      return ErrorCode::permission_denied;
    case Kind::address_not_local:
    case Kind::scope_missing:
      return ErrorCode::no_address;
    default:
      return ErrorCode::system_error;
  }
}

/// The system's refusals have their own cures: more exact than what the code alone could say.
Error error_of(const net::NetError& error) {
  return Error::explained(code_of(error.kind), error.describe());
}

/// The kernel drops what does not fit into the receive buffer, so peers must not be invited to send more at once.
void fit_to_receive_buffer(protocol::Config& config, const net::UdpSocket& socket) {
  const std::size_t fits = net::payload_capacity(socket.buffer_sizes().receive.effective, config.initial_datagram);
  config.max_incoming = std::clamp<std::uint64_t>(fits / 2, 64 * 1024, config.max_incoming);
  const std::uint64_t unscheduled = std::max<std::uint64_t>(fits / 4, 16 * 1024);
  config.unscheduled_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(config.unscheduled_bytes, unscheduled));
}

/// Signals are the application's: our threads take none. Precise timers instead of the default slack of 50 us.
void run_thread(Shard& shard, const std::string& name) {
  pthread_setname_np(pthread_self(), name.c_str());
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  shard.run();
  shard.finish();
}

class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

struct Snapshot {
  protocol::Counters protocol;
  RuntimeCounters runtime;
  net::UdpCounters socket;
};

Snapshot snapshot_of(const Shard& shard) {
  return {shard.endpoint().counters(), shard.counters(), shard.socket().counters()};
}

void add(Stats& stats, std::size_t& at, const char* name, const char* meaning, std::uint64_t value) {
  if (at == stats.size()) stats.push_back({name, meaning, 0});
  stats[at++].value += value;
}

void add(Stats& stats, const Snapshot& snapshot) {
  std::size_t at = 0;
  const auto visit = [&](const char* name, const char* meaning, std::uint64_t value) {
    add(stats, at, name, meaning, value);
  };
  for_each_counter(snapshot.protocol, visit);
  for_each_counter(snapshot.runtime, visit);
  visit("socket_segmented_sends", "sends cut into datagrams by the kernel", snapshot.socket.segmented_sends);
  visit("socket_single_sends", "datagrams sent one by one", snapshot.socket.single_sends);
  visit("socket_gso_refused", "sockets that had to do without segmentation", snapshot.socket.gso_refused);
  visit("socket_queue_drops", "datagrams dropped because the receive buffer was full", snapshot.socket.queue_drops);
}

}  // namespace

ShardGroup::ShardGroup(const GroupSettings& settings)
    : drive_(settings.drive), memory_(settings.config.receive_memory), incoming_(settings.config.max_incoming) {}

ShardGroup::~ShardGroup() {
  stop();
  shards_.clear();
  for (ShardLink* link : links_) link->drop_reference();
}

Result<std::unique_ptr<ShardGroup>> ShardGroup::open(const GroupSettings& settings, RequestObserver* observer) {
  std::unique_ptr<ShardGroup> group(new ShardGroup(settings));
  std::vector<net::UdpSocket> sockets;
  if (Result<void> opened = group->open_sockets(settings, sockets); !opened) return opened.error();
  for (unsigned i = 0; i < settings.shards; ++i) {
    net::Result<net::Wakeup> wakeup = net::Wakeup::create();
    if (!wakeup) return error_of(wakeup.error());
    group->links_.push_back(new ShardLink(std::move(*wakeup)));
  }
  group->make_shards(settings, std::move(sockets), observer);
  if (Result<void> started = group->start_threads(settings); !started) return started.error();
  return group;
}

Result<void> ShardGroup::open_sockets(const GroupSettings& settings, std::vector<net::UdpSocket>& sockets) {
  net::UdpOptions options;
  options.receive_buffer = settings.receive_buffer;
  options.send_buffer = settings.send_buffer;
  Address bind = settings.bind;
  const bool shared = settings.one_port && settings.shards > 1;
  if (shared) {
    net::Result<net::PortGuard> guard = net::PortGuard::acquire(bind);
    if (!guard) return error_of(guard.error());
    bind = guard->address();
    guard_.emplace(std::move(*guard));
    options.reuse_port = true;
  }
  for (unsigned i = 0; i < settings.shards; ++i) {
    net::Result<net::UdpSocket> socket = net::UdpSocket::open(bind, options);
    if (!socket) return error_of(socket.error());
    addresses_.push_back(socket->local_address());
    sockets.push_back(std::move(*socket));
  }
  if (shared) {
    const net::NetError error = net::attach_steering(sockets[0].fd(), sockets.size());
    if (error.kind != net::NetErrorKind::none) return error_of(error);
  }
  return {};
}

void ShardGroup::make_shards(const GroupSettings& settings, std::vector<net::UdpSocket> sockets,
                             RequestObserver* observer) {
  ShardSettings shard;
  shard.config = settings.config;
  shard.config.incarnation = random_seed();
  shard.priorities = settings.priorities;
  shard.wait = settings.wait;
  shard.spin = settings.spin;
  if (settings.shards > 1) {
    shard.config.shared_receive_memory = &memory_;
    shard.config.shared_incoming = &incoming_;
    if (settings.one_port) shard.siblings = links_;
  }
  fit_to_receive_buffer(shard.config, sockets[0]);
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    shard.config.shard = static_cast<std::uint8_t>(i);
    shard.seed = random_seed();
    shards_.push_back(std::make_unique<Shard>(std::move(sockets[i]), *links_[i], shard, observer));
  }
}

Result<void> ShardGroup::start_threads(const GroupSettings& settings) {
  if (settings.drive == Drive::caller) return {};
  const BlockedSignals blocked;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const std::string name = settings.thread_name.substr(0, 12) + "/" + std::to_string(i);
    threads_.emplace_back(run_thread, std::ref(*shards_[i]), name);
    if (settings.cores.empty()) continue;
    const int core = settings.cores[i % settings.cores.size()];
    cpu_set_t set;
    CPU_ZERO(&set);
    if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &set);
    if (pthread_setaffinity_np(threads_.back().native_handle(), sizeof(set), &set) != 0) {
      return Error(ErrorCode::bad_option, "cores: this process may not run on core " + std::to_string(core));
    }
  }
  return {};
}

std::size_t ShardGroup::choose() const {
  if (links_.size() == 1) return 0;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i]->shard_in_turn() != nullptr) return i;
  }
  static std::atomic<std::size_t> threads_seen{0};
  thread_local const std::size_t own = threads_seen.fetch_add(1, std::memory_order_relaxed);
  return own % links_.size();
}

Stats ShardGroup::stats() {
  Stats stats;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    Shard* shard = shards_[i].get();
    if (caller_driven() || links_[i]->shard_in_turn() != nullptr) {
      add(stats, snapshot_of(*shard));
      continue;
    }
    std::promise<Snapshot> promise;
    std::future<Snapshot> future = promise.get_future();
    Command command;
    command.function = std::make_unique<UniqueFunction<void(Shard&)>>(
        [&promise](Shard& there) { promise.set_value(snapshot_of(there)); });
    if (links_[i]->post(std::move(command))) {
      add(stats, future.get());
    } else if (threads_.empty()) {
      add(stats, snapshot_of(*shard));  // stopped: nobody writes any more
    }
  }
  return stats;
}

void ShardGroup::stop() {
  if (std::exchange(stopped_, true)) return;
  for (ShardLink* link : links_) {
    Command command;
    command.function = std::make_unique<UniqueFunction<void(Shard&)>>([](Shard& shard) { shard.request_stop(); });
    static_cast<void>(link->post(std::move(command)));
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (const std::unique_ptr<Shard>& shard : shards_) shard->finish();
}

}  // namespace homa::runtime
