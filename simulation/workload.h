// Message sizes of a workload: the files of data/workloads, or one fixed size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "simulation/outcome.h"

namespace homa::simulation {

/// A step function from probability to size. Immutable after construction.
class Workload {
 public:
  struct Step {
    std::uint64_t size = 0;
    double probability = 0;  ///< of this size alone
    double cumulative = 0;
  };

  static Workload fixed(std::uint64_t size);
  /// The format of data/workloads/README.md; `name` stands before the line number in errors.
  static Outcome<Workload> parse(std::string_view text, const std::string& name);
  /// A path, or the name of a file that the project keeps ("w3").
  static Outcome<Workload> read(const std::string& path);
  /// The same, or a number of bytes.
  static Outcome<Workload> load(const std::string& what);

  std::uint64_t sample(Rng& rng) const { return quantile(1 - rng.unit()); }
  /// The first size whose cumulative probability is at least u. Precondition: 0 < u <= 1.
  std::uint64_t quantile(double u) const;
  /// Part of messages that are no longer.
  double fraction_up_to(std::uint64_t size) const;
  double mean() const {
    return mean_of([](std::uint64_t size) { return static_cast<double>(size); });
  }
  /// Expectation of a function of the size.
  template <typename Function>
  double mean_of(Function&& function) const {
    double sum = 0;
    for (const Step& step : steps_) sum += step.probability * function(step.size);
    return sum;
  }
  std::uint64_t smallest() const { return steps_.front().size; }
  std::uint64_t largest() const { return steps_.back().size; }
  bool is_fixed() const { return steps_.size() == 1; }
  /// What it was read from; "100 B" of a fixed size.
  const std::string& name() const { return name_; }
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::string name_;
  std::vector<Step> steps_;  // never empty, sizes strictly ascending
};

}  // namespace homa::simulation
