// Faults that users of other transports met in the field, as tests over real sockets.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "net/udp_socket.h"
#include "support.h"

namespace homa {
namespace {

/// server_process.cc in a process of its own, so that it can be killed.
class ServerProcess {
 public:
  /// Port 0: any. `mode`: "echo" or "hold".
  ServerProcess(std::uint16_t port, const char* mode) {
    int input[2];
    int output[2];
    if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    std::string port_text = std::to_string(port);
    std::string mode_text = mode;
    std::string program = HOMA_SERVER_PROCESS;
    char* arguments[] = {program.data(), port_text.data(), mode_text.data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(input[0]);
    close(output[1]);
    input_ = input[1];
    std::FILE* from = fdopen(output[0], "r");
    unsigned bound = 0;
    EXPECT_EQ(std::fscanf(from, "%u", &bound), 1) << "the server did not start";
    std::fclose(from);
    port_ = static_cast<std::uint16_t>(bound);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() { kill_now(); }

  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(input_);
    pid_ = 0;
  }
  Address address() const { return {HostAddress::v4(127, 0, 0, 1), port_}; }

 private:
  pid_t pid_ = 0;
  int input_ = -1;
  std::uint16_t port_ = 0;
};

// After a lost session the client could not reach the same address again, and crashed on the next send.
TEST(FieldReports, field_03_a_killed_server_comes_back) {
  ServerProcess first(0, "hold");
  const Address address = first.address();
  ClientOptions options = client_options();
  options.peer_timeout = 500ms;
  Client client = open_client(options);
  Mailbox<Result<Message>> ends;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(client.call(address, pattern(100'000), {}, [&](Result<Message> end) { ends.put(std::move(end)); }));
  }
  // All have been received by the server: nothing else shows that from here than its silence on a call with a deadline.
  ASSERT_FALSE(client.call(address, as_bytes("x"), CallOptions::within(50ms)));
  first.kill_now();
  for (const Result<Message>& end : ends.take(10)) {
    ASSERT_FALSE(end);
    EXPECT_TRUE(end.error() == ErrorCode::peer_timeout || end.error() == ErrorCode::peer_unreachable ||
                end.error() == ErrorCode::outcome_unknown)
        << end.error().message();
  }
  ServerProcess second(address.port, "echo");
  const Result<Message> response = client.call(address, as_bytes("again"), CallOptions::within(kPatience));
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->text(), "again");
}

// The server restarts while the client waits: the call may have run, and must neither hang nor run again.
TEST(FieldReports, field_02_a_restart_during_a_call_is_an_unknown_outcome) {
  ServerProcess first(0, "hold");
  const Address address = first.address();
  Client client = open_client();
  Mailbox<Result<Message>> ends;
  ASSERT_TRUE(client.call(address, as_bytes("x"), {}, [&](Result<Message> end) { ends.put(std::move(end)); }));
  ASSERT_FALSE(client.call(address, as_bytes("x"), CallOptions::within(50ms)));
  first.kill_now();
  ServerProcess second(address.port, "echo");
  const std::vector<Result<Message>> end = ends.take(1);
  ASSERT_EQ(end.size(), 1u);
  ASSERT_FALSE(end[0]) << "a call that is not idempotent must not run at the second server";
  const Result<Message> response = client.call(address, as_bytes("again"), CallOptions::within(kPatience));
  ASSERT_TRUE(response) << response.error().message();
}

// A crashed process left what it had taken, and the next one could not start or starved.
TEST(FieldReports, field_25_a_hundred_crashes_leave_nothing_that_hinders_the_next_start) {
  ClientOptions options = client_options();
  options.peer_timeout = 500ms;
  const std::vector<std::byte> bytes = pattern(100'000);
  std::uint16_t port = 0;
  for (int i = 0; i < 100; ++i) {
    ServerProcess server(port, "echo");
    if (HasFailure()) return;
    port = server.address().port;
    // A client that knew the process before could not tell whether a call had run there.
    Client client = open_client(options);
    const Result<Message> response = client.call(server.address(), bytes, CallOptions::within(kPatience));
    ASSERT_TRUE(response) << "start " << i << ": " << response.error().message();
    // Dies with a call under way.
    ASSERT_TRUE(client.call(server.address(), bytes, CallOptions::within(100ms), [](Result<Message>) {}));
  }
}

// A new process at the port of the old one met packets that were meant for the old one.
TEST(FieldReports, field_28_a_restart_amid_traffic_runs_nothing_of_the_old_process) {
  constexpr int kHeld = 50;
  auto first = std::make_unique<ServerProcess>(0, "hold");
  const Address address = first->address();
  ClientOptions options = client_options();
  options.peer_timeout = 1s;
  Client client = open_client(options);
  Mailbox<Result<Message>> held;
  for (int i = 0; i < kHeld; ++i) {
    ASSERT_TRUE(client.call(address, pattern(20'000), {}, [&](Result<Message> end) { held.put(std::move(end)); }));
  }
  ASSERT_FALSE(client.call(address, as_bytes("x"), CallOptions::within(200ms)));  // the held ones are there by now
  first->kill_now();
  const ServerProcess second(address.port, "echo");
  // The old calls are still pushed for while new ones begin.
  for (int i = 0; i < 20; ++i) {
    const Result<Message> response = client.call(address, pattern(20'000), CallOptions::within(kPatience));
    // The first may have gone to the old process, for all that the client knows. From then on it knows the new one.
    if (i == 0 && !response) {
      EXPECT_EQ(response.error(), ErrorCode::outcome_unknown);
      continue;
    }
    ASSERT_TRUE(response) << "call " << i << ": " << response.error().message();
  }
  for (const Result<Message>& end : held.take(kHeld)) {
    EXPECT_FALSE(end) << "a request that the old process had taken ran again in the new one";
  }
}

// A send to a dead process said "try again" for ever.
TEST(FieldReports, field_04_nobody_at_the_port_is_an_error_that_ends_the_call) {
  Address address;
  {
    Server gone = start_server(server_options(), echo);
    address = gone.address();
  }
  ClientOptions options = client_options();
  options.peer_timeout = 1s;
  Client client = open_client(options);
  const auto before = Clock::now();
  const Result<Message> response = client.call(address, as_bytes("x"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error(), ErrorCode::peer_unreachable);
  EXPECT_LT(Clock::now() - before, 10s);
}

// TCP worked, Homa timed out, and nothing said that its packets never came back.
TEST(FieldReports, field_18_a_silent_peer_is_told_by_counts_of_packets) {
  const net::Result<net::UdpSocket> silent = net::UdpSocket::open(loopback_v4());
  ASSERT_TRUE(silent);
  const Address peer = silent->local_address();
  ClientOptions options = client_options();
  options.peer_timeout = 300ms;
  Client client = open_client(options);
  Mailbox<Error> errors;
  ASSERT_TRUE(client.call(peer, as_bytes("x"), {}, [&](Result<Message> end) { errors.put(end.error()); }));
  ASSERT_TRUE(client.send_one_way(peer, as_bytes("x"), {}, [&](Result<void> end) { errors.put(end.error()); }));
  const Result<Message> blocking = client.call(peer, as_bytes("x"));
  const Result<Message> brief = client.call(peer, as_bytes("x"), CallOptions::within(100ms));
  ASSERT_FALSE(blocking);
  ASSERT_FALSE(brief);
  EXPECT_EQ(blocking.error(), ErrorCode::peer_unreachable);
  EXPECT_EQ(brief.error(), ErrorCode::deadline_exceeded);
  std::vector<Error> all = errors.take(2);
  all.insert(all.end(), {blocking.error(), brief.error()});
  for (const Error& error : all) {
    const std::string text = error.message();
    EXPECT_NE(text.find(to_string(peer)), std::string::npos) << text;
    const std::size_t sent = text.find("sent ");
    ASSERT_NE(sent, std::string::npos) << text;
    EXPECT_GT(std::atoi(text.c_str() + sent + 5), 0) << text;
    EXPECT_NE(text.find(" packets, heard 0"), std::string::npos) << text;
    EXPECT_NE(text.find("firewall"), std::string::npos) << text;
  }
}

std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// A sender that never waits got "cannot allocate memory" from the system.
TEST(FieldReports, field_19_a_sender_that_never_waits_meets_a_bound) {
  ServerOptions server_settings = server_options();
  server_settings.slots = 16;
  Server server = start_server(server_settings, echo);
  ClientOptions options = client_options();
  options.max_pending_calls = 1000;
  Client client = open_client(options);
  constexpr int kCalls = 1'000'000;
  std::atomic<int> ended{0};
  std::atomic<int> failed{0};
  int accepted = 0;
  int blocked = 0;
  int most_pending = 0;
  std::size_t warm = 0;
  std::size_t most = 0;
  for (int i = 0; i < kCalls; ++i) {
    const Result<CallToken> token = client.call(server.address(), as_bytes("small"), {}, [&](Result<Message> response) {
      failed += response ? 0 : 1;
      ++ended;
    });
    if (token) {
      ++accepted;
      most_pending = std::max(most_pending, accepted - ended.load());
    } else {
      ASSERT_EQ(token.error(), ErrorCode::would_block);
      ++blocked;
    }
    if (i % 10'000 != 0) continue;
    if (i == 100'000) warm = resident_bytes();
    if (i > 100'000) most = std::max(most, resident_bytes());
  }
  EXPECT_GT(blocked, 0);
  EXPECT_LE(most_pending, 1001);
  EXPECT_LT(most, warm + (8u << 20)) << "memory grows with the number of calls";
  // Back-pressure is not an end: everything accepted ends, and there is room again afterwards.
  Tally writable;
  client.notify_writable([&] { writable.add(); });
  EXPECT_TRUE(writable.reach(1));
  const auto until = Clock::now() + kPatience;
  while (ended < accepted && Clock::now() < until) std::this_thread::yield();
  EXPECT_EQ(ended, accepted);
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace homa
