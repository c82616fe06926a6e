// One of the two endpoints under the core's fuzzer, with what its application holds. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "protocol/endpoint.h"

/// What must hold whatever the input is. Stays on in every build, unlike assert.
#define FUZZ_CHECK(condition)                                                            \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

namespace homa::fuzz {

inline constexpr std::size_t kMaxMessage = 40'000;

/// Content of every message behind its tag.
struct Pattern {
  std::vector<std::byte> bytes;
  Pattern() : bytes(kMaxMessage + 64) {
    std::uint32_t x = 1;
    for (auto& byte : bytes) byte = static_cast<std::byte>((x = x * 1664525u + 1013904223u) >> 24);
  }
};
inline const Pattern kPattern;

class Buffers final : public protocol::BufferSource {
 public:
  std::byte* allocate(std::uint64_t length) override {
    if (refuse) return nullptr;
    live += length;
    return new std::byte[length];
  }
  void release(std::byte* data, std::uint64_t length) override {
    live -= length;
    delete[] data;
  }
  std::uint64_t live = 0;
  bool refuse = false;
};

struct Host {
  Address address;
  protocol::Config config;
  Buffers buffers;
  std::unique_ptr<protocol::Endpoint> endpoint;
  bool closed = false;
  struct Outgoing {
    std::uint64_t tag = 0;
    ByteView pieces[3];
  };
  std::map<std::uint64_t, Outgoing> payloads;       // by cookie, until released
  std::map<std::uint64_t, protocol::CallId> calls;  // by cookie, until finished
  std::vector<protocol::RequestId> requests;        // to be answered
  std::vector<protocol::Message> messages;          // to be released

  /// A payload that begins with `cookie` as its tag; it is kept until the endpoint releases it.
  protocol::Payload payload(std::uint64_t cookie, std::uint64_t length) {
    Outgoing& out = payloads[cookie];
    out.tag = cookie;
    const std::size_t tag = std::min<std::uint64_t>(length, sizeof out.tag);
    const std::size_t rest = static_cast<std::size_t>(length) - tag;
    out.pieces[0] = {reinterpret_cast<const std::byte*>(&out.tag), tag};
    out.pieces[1] = {kPattern.bytes.data(), rest / 2};
    out.pieces[2] = {kPattern.bytes.data() + rest / 2, rest - rest / 2};
    return {out.pieces, 3, length, cookie};
  }
};

}  // namespace homa::fuzz
