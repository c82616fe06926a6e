// Checks of option values that say in one short line what is wrong.
#pragma once

#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace homa::tools {

/// A number of at least `least`. CLI11's own checks name the largest double as the other end of the range.
inline CLI::Validator at_least(int least) {
  return CLI::Validator(
      [least](const std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool is_number = end != text.c_str() && *end == '\0';
        return is_number && value >= least ? std::string()
                                           : fmt::format("'{}' is not a number of at least {}", text, least);
      },
      fmt::format("NUMBER >= {}", least));
}

}  // namespace homa::tools
