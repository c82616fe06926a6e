// What the tests of sweeps share: a folder that goes with the test, and results made by hand.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "simulation/run_result.h"

namespace homa::tools::sim {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "homa-sweep-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A result whose buckets hold a thousand messages each, with these p50; p99 is twice that.
inline simulation::RunResult result_with(std::uint64_t seed, const std::vector<double>& p50) {
  simulation::RunResult result;
  result.spec.seed = seed;
  double share = 0;
  for (std::size_t b = 0; b < p50.size(); ++b) {
    share += 1.0 / static_cast<double>(p50.size());
    simulation::SizeBucket bucket;
    bucket.smallest_bytes = 100 * b + 1;
    bucket.largest_bytes = 100 * (b + 1);
    bucket.count_fraction = share;
    bucket.slowdown.count = 1000;
    bucket.slowdown.p50 = {p50[b], p50[b] * 0.99, p50[b] * 1.01};
    bucket.slowdown.p99 = {p50[b] * 2, p50[b] * 1.9, p50[b] * 2.1};
    result.buckets.push_back(bucket);
  }
  return result;
}

/// A run that takes a fraction of a second: two leaves, small messages.
inline simulation::RunSpec tiny_spec(std::uint64_t seed) {
  simulation::RunSpec spec;
  spec.hosts = 32;
  spec.workload = "w2";
  spec.load = 0.5;
  spec.messages = 2000;
  spec.seed = seed;
  return spec;
}

}  // namespace homa::tools::sim
