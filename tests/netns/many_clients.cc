// many_clients COUNT: that many clients, one after the other, each with a socket and a port of its own, make one call
// and go, one in four of them without a goodbye. The memory of the server's process must be flat: exits 1 when it grew.
//
// The server is a process of its own, so that only its memory counts. It forgets idle clients after a second here, so
// that memory of clients that left without a goodbye is flat within a test, too.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "homa/client.h"
#include "homa/server.h"

namespace {

using namespace homa;
using namespace std::chrono_literals;

// Beyond the start: pools of the server fill during the first clients, and memory is measured in whole pages.
constexpr std::size_t kGrowthMax = std::size_t{2} << 20;

[[maybe_unused]] constexpr int kSkipped = 77;  // SKIP_RETURN_CODE of the test

int serve(int port_pipe) {
  ServerOptions options(Security::clear());
  options.bind = parse_address("127.0.0.1:0").value();
  options.wait = WaitMode::block;
  options.idle_timeout = 1s;
  options.drive = Drive::caller;
  auto server = Server::start(options, [](Request request) { request.reply(std::move(request.message())); });
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message().c_str());
    return 1;
  }
  const std::uint16_t port = server->address().port;
  if (write(port_pipe, &port, sizeof(port)) != sizeof(port)) return 1;
  server->run();
  return 0;
}

std::size_t resident_bytes(pid_t process) {
  std::size_t pages = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/" + std::to_string(process) + "/statm") >> pages >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

bool call_once(const Address& server, bool vanish = false) {
  ClientOptions options(Security::clear());
  options.bind = parse_address("127.0.0.1:0").value();
  options.wait = WaitMode::block;
  options.drive = Drive::caller;
  auto client = Client::open(options);
  if (!client) {
    std::fprintf(stderr, "open: %s\n", client.error().message().c_str());
    return false;
  }
  const auto response = client->call(server, as_bytes("hello"), CallOptions::within(20s));
  if (!response) std::fprintf(stderr, "call: %s\n", response.error().message().c_str());
  const bool ok = response && response->text() == "hello";
  if (vanish) _exit(ok ? 0 : 1);
  return ok;
}

/// A client in a process that ends without a destructor, and so without a goodbye.
bool call_and_vanish(const Address& server) {
  const pid_t child = fork();
  if (child == 0) _exit(call_once(server, true) ? 0 : 1);
  int status = 1;
  return waitpid(child, &status, 0) == child && status == 0;
}

int visit(pid_t process, const Address& server, int count) {
  std::size_t settled = 0;
  std::size_t most = 0;
  for (int i = 1; i <= count; ++i) {
    if (!(i % 4 == 0 ? call_and_vanish(server) : call_once(server))) {
      std::fprintf(stderr, "client %d failed\n", i);
      return 1;
    }
    if (i % std::max(1, count / 20) != 0) continue;
    const std::size_t now = resident_bytes(process);
    if (i <= count / 4) settled = now;
    most = std::max(most, now);
    std::printf("%7d clients: server has %zu KiB\n", i, now / 1024);
    std::fflush(stdout);
  }
  const bool flat = most <= settled + kGrowthMax;
  std::printf("%s: at most %zu KiB, %zu KiB after the first quarter\n", flat ? "flat" : "GREW", most / 1024,
              settled / 1024);
  return flat ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc == 2 ? std::atoi(argv[1]) : 0;
  if (count < 20) {
    std::fprintf(stderr, "usage: many_clients COUNT, at least 20\n");
    return 2;
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::printf("skipped: sanitizers keep what was freed, so that resident memory says nothing\n");
  return kSkipped;
#endif
  int port_pipe[2];
  if (pipe(port_pipe) != 0) return 1;
  const pid_t process = fork();
  if (process == 0) {
    close(port_pipe[0]);
    _exit(serve(port_pipe[1]));
  }
  close(port_pipe[1]);
  std::uint16_t port = 0;
  int result = 1;
  if (read(port_pipe[0], &port, sizeof(port)) == sizeof(port)) {
    Address server = parse_address("127.0.0.1:1").value();
    server.port = port;
    result = visit(process, server, count);
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  return result;
}
