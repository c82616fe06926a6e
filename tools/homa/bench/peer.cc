#include "bench/peer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/homa_peer.h"
#include "bench/tcp_peer.h"
#include "bench/udp_blast.h"
#include "bench/udp_echo_peer.h"
#include "failure.h"

namespace homa::tools {
namespace {

Failure unknown_transport(const std::string& name) {
  return usage_failure(fmt::format("unknown transport '{}'; there are homa, tcp, udp-blast and udp-echo", name));
}

}  // namespace

void check(const PeerSettings& settings) {
  constexpr int kMinSegment = 64;
  constexpr int kMaxSegment = 65507;
  if (settings.segment < kMinSegment || settings.segment > kMaxSegment) {
    throw usage_failure(fmt::format("--segment must be {} to {} bytes", kMinSegment, kMaxSegment));
  }
  if (settings.train < settings.segment || settings.train > kMaxSegment) {
    throw usage_failure(fmt::format("--train must be at least a segment and at most {} bytes", kMaxSegment));
  }
}

Wait parse_wait(const std::string& text) {
  if (text == "poll") return Wait::poll;
  if (text == "adaptive") return Wait::adaptive;
  if (text == "block") return Wait::block;
  throw usage_failure(fmt::format("unknown wait mode '{}'; there are poll, adaptive and block", text));
}

const char* to_text(Wait wait) {
  switch (wait) {
    case Wait::poll:
      return "poll";
    case Wait::adaptive:
      return "adaptive";
    case Wait::block:
      break;
  }
  return "block";
}

nlohmann::json to_json(const PeerSettings& settings) {
  return {{"transport", settings.transport},
          {"wait", to_text(settings.wait)},
          {"response_same", settings.response_same},
          {"response_bytes", settings.response_bytes},
          {"max_message", settings.max_message},
          {"congestion", settings.congestion},
          {"segment", settings.segment},
          {"train", settings.train},
          {"shards", settings.shards},
          {"spinner", settings.spinner}};
}

PeerSettings settings_from_json(const nlohmann::json& json) {
  PeerSettings settings;
  try {
    settings.transport = json.at("transport").get<std::string>();
    settings.wait = parse_wait(json.at("wait").get<std::string>());
    settings.response_same = json.at("response_same").get<bool>();
    settings.response_bytes = json.at("response_bytes").get<std::uint64_t>();
    settings.max_message = json.at("max_message").get<std::uint64_t>();
    settings.congestion = json.at("congestion").get<std::string>();
    settings.segment = json.at("segment").get<int>();
    settings.train = json.at("train").get<int>();
    settings.shards = json.at("shards").get<unsigned>();
    settings.spinner = json.at("spinner").get<bool>();
  } catch (const nlohmann::json::exception& error) {
    throw Failure(
        fmt::format("the peer's settings cannot be read ({}); use the same version at both ends", error.what()));
  }
  check(settings);
  return settings;
}

std::unique_ptr<Service> make_service(const PeerSettings& settings, const Address& bind) {
  if (settings.transport == "tcp") return make_tcp_service(settings, bind);
  if (settings.transport == "udp-echo") return make_udp_echo_service(settings, bind);
  if (settings.transport == "udp-blast") return make_udp_blast_service(settings, bind);
  if (settings.transport == "homa") return make_homa_service(settings, bind);
  throw unknown_transport(settings.transport);
}

std::unique_ptr<Peer> make_peer(const PeerSettings& settings, const Address& server, unsigned connections) {
  if (settings.transport == "tcp") return make_tcp_peer(settings, server, connections);
  if (settings.transport == "udp-echo") return make_udp_echo_peer(settings, server, connections);
  if (settings.transport == "homa") return make_homa_peer(settings, server, connections);
  throw unknown_transport(settings.transport);
}

}  // namespace homa::tools
