// One call: greeting_client HOST:PORT NAME.
#include <homa/client.h>

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: greeting_client HOST:PORT NAME\n");
    return 2;
  }
  const auto server = homa::resolve(argv[1]);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message().c_str());
    return 2;
  }
  auto client = homa::Client::open(homa::ClientOptions(homa::Security::clear()));
  if (!client) {
    std::fprintf(stderr, "%s\n", client.error().message().c_str());
    return 1;
  }
  const auto options = homa::CallOptions::within(std::chrono::seconds(2));
  const auto response = client->call(*server, homa::as_bytes(argv[2]), options);
  if (!response) {
    std::fprintf(stderr, "%s\n", response.error().message().c_str());  // says the cause and the cure
    return 1;
  }
  const auto text = response->text();
  std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
}
