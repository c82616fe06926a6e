// Answers every request with a greeting: greeting_server [ADDRESS], by default every address, port 4000.
#include <homa/server.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  const auto address = homa::parse_address(argc > 1 ? argv[1] : ":4000");
  if (!address) {
    std::fprintf(stderr, "%s\n", address.error().message().c_str());
    return 2;
  }
  homa::ServerOptions options(homa::Security::clear());  // clear must be said: anyone on the path can read and forge
  options.bind = *address;
  options.drive = homa::Drive::caller;  // this thread does the work, in run()
  auto server = homa::Server::start(options, [](homa::Request request) {
    const std::string greeting = "hello, " + std::string(request.message().text());
    request.reply(homa::as_bytes(greeting));
  });
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message().c_str());
    return 1;
  }
  std::printf("listening on %s\n", homa::to_string(server->address()).c_str());
  std::fflush(stdout);
  server->run();
}
