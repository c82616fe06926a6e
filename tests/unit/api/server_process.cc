// A server in a process of its own, for tests that kill it: server_process PORT echo|hold. Prints its port and serves
// until it is killed or its standard input ends (so that it does not outlive its test). `hold`: never answers.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

#include "homa/server.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  homa::ServerOptions options(homa::Security::clear());
  options.bind = {homa::HostAddress::v4(127, 0, 0, 1), static_cast<std::uint16_t>(std::atoi(argv[1]))};
  options.wait = homa::WaitMode::block;
  const bool holds = std::string_view(argv[2]) == "hold";
  std::vector<homa::Request> held;
  homa::Result<homa::Server> server = homa::Server::start(options, [&](homa::Request request) {
    if (holds) {
      held.push_back(std::move(request));
    } else {
      request.reply(std::move(request.message()));
    }
  });
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message().c_str());
    return 1;
  }
  std::printf("%u\n", unsigned{server->address().port});
  std::fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
