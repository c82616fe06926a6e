// What the tests of the public API share: a server and a client on the loopback interface, and waiting with a deadline.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "homa/client.h"
#include "homa/server.h"

namespace homa {

/// Nothing on a loopback interface takes so long; a test that waits for it has failed.
inline constexpr Duration kPatience = 20s;

inline Address loopback_v4() {
  return {HostAddress::v4(127, 0, 0, 1), 0};
}
inline Address loopback_v6() {
  Address address;
  address.host.ip[15] = 1;
  return address;
}

inline ServerOptions server_options(const Address& bind = loopback_v4()) {
  ServerOptions options(Security::clear());
  options.bind = bind;
  options.wait = WaitMode::block;  // the machine's cores are shared by all tests
  return options;
}

inline ClientOptions client_options(const Address& bind = loopback_v4()) {
  ClientOptions options(Security::clear());
  options.bind = bind;
  options.wait = WaitMode::block;
  return options;
}

inline Server start_server(ServerOptions options, Server::Handler handler) {
  Result<Server> server = Server::start(std::move(options), std::move(handler));
  if (!server) {
    ADD_FAILURE() << server.error().message();
    std::abort();
  }
  return std::move(*server);
}

inline Client open_client(ClientOptions options = client_options()) {
  Result<Client> client = Client::open(std::move(options));
  if (!client) {
    ADD_FAILURE() << client.error().message();
    std::abort();
  }
  return std::move(*client);
}

inline void echo(Request request) {
  request.reply(std::move(request.message()));
}

/// Bytes in which every misplaced packet shows.
inline std::vector<std::byte> pattern(std::size_t size, std::uint64_t seed = 1) {
  std::vector<std::byte> bytes(size);
  std::uint64_t state = mix64(seed);
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 8 == 0) state = mix64(state + i);
    bytes[i] = static_cast<std::byte>(state >> (i % 8 * 8));
  }
  return bytes;
}

inline bool equal(Bytes a, Bytes b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// A count that threads wait for.
class Tally {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  int count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  /// False when the count did not come in time.
  bool reach(int count, Duration patience = kPatience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return count_ >= count; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

/// Values that threads wait for.
template <typename T>
class Mailbox {
 public:
  void put(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  /// Fails the test and gives nothing when none came in time.
  std::vector<T> take(std::size_t count, Duration patience = kPatience) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, patience, [&] { return values_.size() >= count; });
    EXPECT_TRUE(came) << values_.size() << " of " << count;
    return std::exchange(values_, {});
  }

  std::optional<T> take_one(Duration patience = kPatience) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, patience, [&] { return !values_.empty(); })) return std::nullopt;
    std::optional<T> value(std::move(values_.back()));
    values_.pop_back();
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> values_;
};

inline std::uint64_t counter(const Stats& stats, std::string_view name) {
  for (const Counter& entry : stats) {
    if (name == entry.name) return entry.value;
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

}  // namespace homa
