// How a command fails: one line for the user that says what and how to mend it, and an exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace homa::tools {

/// Exit codes of every subcommand.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;  ///< tried, and it did not work: no answer, refused, deadline passed
inline constexpr int kExitUsage = 2;   ///< nothing was tried: bad option, unreadable file, unknown name, port in use

/// Thrown anywhere below main(), which prints what() as one line on stderr and exits with exit_code().
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& message, int exit_code = kExitFailed)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// A failure that lies in what the user gave us.
inline Failure usage_failure(const std::string& message) {
  return Failure(message, kExitUsage);
}

}  // namespace homa::tools
