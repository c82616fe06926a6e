#include "serve_tally.h"

#include <cstdio>

#include <fmt/format.h>

namespace homa::tools {

void ServeTally::refuse(Request& request, std::string_view path, const std::string& why) {
  constexpr std::uint64_t kMaxLines = 100;
  constexpr std::size_t kMaxPath = 100;
  request.refuse(RefuseReason::failed);
  const std::uint64_t number = ++refused;
  if (number > kMaxLines) return;
  std::string shown(path.substr(0, kMaxPath));
  for (char& character : shown) {
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) character = '?';
  }
  fmt::print(stderr, "homa serve: refused '{}' to {}: {}{}\n", shown, to_string(request.peer()), why,
             number == kMaxLines ? " (further refusals are only counted)" : "");
}

}  // namespace homa::tools
