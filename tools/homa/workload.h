// Message size distributions: the files of data/workloads, or one fixed size.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "base/rng.h"

namespace homa::tools {

/// A step function from probability to size. Immutable after construction.
class SizeDistribution {
 public:
  static SizeDistribution fixed(std::uint64_t size);
  /// Reads the format of data/workloads/README.md. Throws Failure that names `name` and the line.
  static SizeDistribution parse(std::istream& input, const std::string& name);
  /// Reads a file; a bare name such as "w3" is also looked for in the directories where the project keeps its own.
  static SizeDistribution load(const std::string& path);

  /// The first step whose cumulative probability is at least u. Precondition: 0 < u <= 1.
  std::uint64_t quantile(double u) const;
  std::uint64_t sample(Rng& rng) const;
  double mean() const;
  std::uint64_t smallest() const { return steps_.front().size; }
  std::uint64_t largest() const { return steps_.back().size; }
  bool is_fixed() const { return steps_.size() == 1; }
  const std::string& name() const { return name_; }

 private:
  struct Step {
    std::uint64_t size = 0;
    double cumulative = 0;
  };
  std::vector<Step> steps_;  // never empty
  std::string name_;
};

/// What `--size` takes: a number with an optional unit, or a file.
SizeDistribution parse_sizes(const std::string& text);

}  // namespace homa::tools
