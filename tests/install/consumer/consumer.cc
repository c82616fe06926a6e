// Calls itself once, through every public header.
#include <homa/address.h>
#include <homa/callback.h>
#include <homa/client.h>
#include <homa/error.h>
#include <homa/message.h>
#include <homa/options.h>
#include <homa/server.h>
#include <homa/stats.h>

#include <chrono>
#include <cstdio>
#include <utility>

int main() {
  homa::ServerOptions options(homa::Security::clear());
  options.bind = *homa::parse_address("127.0.0.1:0");
  auto server =
      homa::Server::start(options, [](homa::Request request) { request.reply(std::move(request.message())); });
  if (!server) return std::fprintf(stderr, "%s\n", server.error().message().c_str()), 1;
  auto client = homa::Client::open(homa::ClientOptions(homa::Security::clear()));
  if (!client) return std::fprintf(stderr, "%s\n", client.error().message().c_str()), 1;
  const auto response =
      client->call(server->address(), homa::as_bytes("itself"), homa::CallOptions::within(std::chrono::seconds(20)));
  if (!response) return std::fprintf(stderr, "%s\n", response.error().message().c_str()), 1;
  return response->text() == "itself" ? 0 : 1;
}
