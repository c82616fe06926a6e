#include "workload.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "failure.h"
#include "parse.h"

namespace homa::tools {
namespace {

/// The files carry 15 decimal digits or fewer.
constexpr double kProbabilityTolerance = 1e-9;

/// Where the project keeps its distributions: HOMA_WORKLOADS, the installed place, the source tree.
std::vector<std::filesystem::path> workload_directories() {
  std::vector<std::filesystem::path> places;
  if (const char* chosen = std::getenv("HOMA_WORKLOADS")) places.emplace_back(chosen);
  places.emplace_back(HOMA_INSTALLED_WORKLOADS);
  places.emplace_back(HOMA_SOURCE_WORKLOADS);
  return places;
}

std::filesystem::path find_workload(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) || path.find('/') != std::string::npos) return path;
  for (const auto& place : workload_directories()) {
    for (const auto& candidate : {place / path, place / (path + ".txt")}) {
      if (std::filesystem::exists(candidate, ignored)) return candidate;
    }
  }
  return path;
}

}  // namespace

SizeDistribution SizeDistribution::fixed(std::uint64_t size) {
  SizeDistribution distribution;
  distribution.steps_.push_back({size, 1.0});
  distribution.name_ = fmt::format("{} B", size);
  return distribution;
}

SizeDistribution SizeDistribution::parse(std::istream& input, const std::string& name) {
  SizeDistribution distribution;
  distribution.name_ = name;
  std::string line;
  for (std::size_t number = 1; std::getline(input, line); ++number) {
    const auto fail = [&](const std::string& what) {
      return usage_failure(fmt::format("{}:{}: {}; a line is 'size_bytes cumulative_probability'", name, number, what));
    };
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    std::istringstream fields(line);
    std::string size_text;
    std::string extra;
    Step step;
    if (!(fields >> size_text >> step.cumulative) || (fields >> extra)) throw fail("expected two numbers");
    const auto size = parse_unsigned(size_text);
    if (!size) throw fail(fmt::format("'{}' is not a size", size_text));
    step.size = *size;
    if (!(step.cumulative >= 0) || step.cumulative > 1 + kProbabilityTolerance) throw fail("probability outside 0..1");
    if (!distribution.steps_.empty()) {
      if (step.size < distribution.steps_.back().size) throw fail("sizes must not decrease");
      if (step.cumulative < distribution.steps_.back().cumulative) throw fail("probabilities must not decrease");
    }
    distribution.steps_.push_back(step);
  }
  if (distribution.steps_.empty()) throw usage_failure(fmt::format("{}: no sizes in it", name));
  if (std::abs(distribution.steps_.back().cumulative - 1) > kProbabilityTolerance) {
    throw usage_failure(
        fmt::format("{}: the last probability is {}, it must be 1", name, distribution.steps_.back().cumulative));
  }
  return distribution;
}

SizeDistribution SizeDistribution::load(const std::string& path) {
  const std::filesystem::path found = find_workload(path);
  std::error_code ignored;
  std::ifstream file(found);
  if (!file || std::filesystem::is_directory(found, ignored)) {
    throw usage_failure(
        fmt::format("cannot read size file '{}'; give a number of bytes, a readable file, or one of w1 .. w5", path));
  }
  return parse(file, path);
}

std::uint64_t SizeDistribution::quantile(double u) const {
  const auto step = std::lower_bound(steps_.begin(), steps_.end(), u, [](const Step& candidate, double wanted) {
    return candidate.cumulative < wanted;
  });
  return step == steps_.end() ? steps_.back().size : step->size;
}

std::uint64_t SizeDistribution::sample(Rng& rng) const {
  return is_fixed() ? steps_[0].size : quantile(1.0 - rng.unit());
}

double SizeDistribution::mean() const {
  double sum = 0;
  double before = 0;
  for (const Step& step : steps_) {
    sum += static_cast<double>(step.size) * (step.cumulative - before);
    before = step.cumulative;
  }
  return sum;
}

SizeDistribution parse_sizes(const std::string& text) {
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0) {
    if (const auto size = parse_size(text)) return SizeDistribution::fixed(*size);
  }
  return SizeDistribution::load(text);
}

}  // namespace homa::tools
