// What `homa serve` counts and says of its requests.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "homa/server.h"

namespace homa::tools {

/// Safe to use from several threads.
struct ServeTally {
  std::atomic<std::uint64_t> answered{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> bytes_in{0};
  std::atomic<std::uint64_t> bytes_out{0};

  void answering(std::uint64_t bytes) {
    ++answered;
    bytes_out += bytes;
  }
  /// Counts, refuses, and prints a line: at most a hundred in all, for peers must not be able to fill a log.
  void refuse(Request& request, std::string_view path, const std::string& why);
};

}  // namespace homa::tools
