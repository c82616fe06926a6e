#include "simulation/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "simulation/data_files.h"

namespace homa::simulation {
namespace {

/// The files carry 15 decimal digits or fewer.
constexpr double kProbabilityTolerance = 1e-9;
/// Lengths travel in 32 bits on the native carrier; 1 GiB is what a product's receiver takes.
constexpr std::uint64_t kLargestMessage = std::uint64_t{1} << 30;

bool parse_number(const std::string& text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Empty, or what is wrong.
std::string parse_line(const std::string& line, std::uint64_t& size, double& cumulative) {
  std::istringstream fields(line);
  std::string size_text;
  std::string rest;
  if (!(fields >> size_text >> cumulative) || fields >> rest) return "two numbers are expected";
  if (!parse_number(size_text, size)) return fmt::format("'{}' is not a size", size_text);
  if (size > kLargestMessage) return fmt::format("a message has {} bytes at most", kLargestMessage);
  const bool in_range = cumulative >= 0 && cumulative <= 1 + kProbabilityTolerance;
  return in_range ? "" : "a probability lies in 0 .. 1";
}

}  // namespace

Workload Workload::fixed(std::uint64_t size) {
  Workload workload;
  workload.name_ = fmt::format("{} B", size);
  workload.steps_.push_back({size, 1, 1});
  return workload;
}

Outcome<Workload> Workload::parse(std::string_view text, const std::string& name) {
  Workload workload;
  workload.name_ = name;
  std::istringstream input{std::string(text)};
  std::string line;
  std::size_t number = 0;
  std::uint64_t last_size = 0;
  double last_cumulative = 0;
  const auto fail = [&](const std::string& what) {
    return Outcome<Workload>::failure(
        fmt::format("{}:{}: {}; a line is 'size_bytes cumulative_probability'", name, number, what));
  };
  while (std::getline(input, line)) {
    ++number;
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    std::uint64_t size = 0;
    double cumulative = 0;
    if (const std::string fault = parse_line(line, size, cumulative); !fault.empty()) return fail(fault);
    if (size < last_size) return fail(fmt::format("size {} comes after {}", size, last_size));
    if (cumulative < last_cumulative)
      return fail(fmt::format("probability {} comes after {}", cumulative, last_cumulative));
    const double probability = cumulative - last_cumulative;
    if (!workload.steps_.empty() && workload.steps_.back().size == size) {
      workload.steps_.back().probability += probability;  // equal neighbours are one step
      workload.steps_.back().cumulative = cumulative;
    } else if (probability > 0) {
      workload.steps_.push_back({size, probability, cumulative});
    }
    last_size = size;
    last_cumulative = cumulative;
  }
  if (workload.steps_.empty() || std::abs(last_cumulative - 1) > kProbabilityTolerance) {
    return fail(fmt::format("the last probability is {}, it must be 1", last_cumulative));
  }
  workload.steps_.back().cumulative = 1;
  return Outcome<Workload>::of(std::move(workload));
}

Outcome<Workload> Workload::read(const std::string& path) {
  const std::string file = find_workload_file(path);
  std::ifstream input(file);
  std::stringstream text;
  if (!input || !(text << input.rdbuf())) {
    return Outcome<Workload>::failure(
        fmt::format("{}: cannot read this workload; give w1 to w5, a size file, or a number of bytes", path));
  }
  return parse(text.str(), file);
}

Outcome<Workload> Workload::load(const std::string& what) {
  std::uint64_t size = 0;
  if (!parse_number(what, size)) return read(what);
  if (size == 0 || size > kLargestMessage) {
    return Outcome<Workload>::failure(fmt::format("{}: a message has 1 to {} bytes", what, kLargestMessage));
  }
  return Outcome<Workload>::of(fixed(size));
}

std::uint64_t Workload::quantile(double u) const {
  const auto at = std::lower_bound(steps_.begin(), steps_.end(), u,
                                   [](const Step& step, double value) { return step.cumulative < value; });
  return at == steps_.end() ? steps_.back().size : at->size;
}

double Workload::fraction_up_to(std::uint64_t size) const {
  const auto at = std::upper_bound(steps_.begin(), steps_.end(), size,
                                   [](std::uint64_t value, const Step& step) { return value < step.size; });
  return at == steps_.begin() ? 0 : (at - 1)->cumulative;
}

}  // namespace homa::simulation
