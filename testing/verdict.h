// What the checkers of a run found. Every run is judged; a failure names its checker and the virtual time.
#pragma once

#include <string>
#include <vector>

#include "testing/event_loop.h"

namespace homa::sim {

struct Violation {
  std::string checker;  ///< stable name, e.g. "at_most_once"
  std::string message;
  Time when{};
};

class Verdict {
 public:
  explicit Verdict(const EventLoop& loop) : loop_(loop) {}
  void fail(std::string checker, std::string message) {
    ++failures_;
    if (violations_.size() < kKept) violations_.push_back({std::move(checker), std::move(message), loop_.now()});
  }
  bool ok() const { return failures_ == 0; }
  /// The first ones; one fault often breaks many rules.
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  static constexpr std::size_t kKept = 8;
  const EventLoop& loop_;
  std::size_t failures_ = 0;
  std::vector<Violation> violations_;
};

}  // namespace homa::sim
