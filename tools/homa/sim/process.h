// Child processes: one at a time, or several side by side.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/time.h"

namespace homa::tools::sim {

struct Ended {
  static constexpr int kNotFound = 127;  ///< the program could not be started
  static constexpr int kKilled = 128;    ///< and above: by signal

  int exit_code = 0;
  std::string output;  ///< the last of its standard output and error, at most some kilobytes
};

/// Runs a program to its end. The first argument is its name, searched in PATH.
Ended run_program(const std::vector<std::string>& arguments);

/// One running child, whose output can be read while it runs. Ends with its parent (PR_SET_PDEATHSIG); the destructor
/// terminates it.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments);
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  int output() const { return output_; }  ///< to poll; not blocking
  /// Takes what has been written and calls `line` for each whole one. False at the end of output.
  bool read(const std::function<void(const std::string&)>& line);
  void terminate();
  /// Waits for its end. Precondition: read() returned false, or terminate() was called.
  Ended wait();

 private:
  pid_t process_ = -1;
  int output_ = -1;
  std::string partial_;
  std::string last_lines_;
};

/// Waits until one of them has output, or is at its end, or the time is over. An index for each that is ready.
std::vector<std::size_t> wait_for_output(const std::vector<Child*>& children, Duration at_most);

}  // namespace homa::tools::sim
