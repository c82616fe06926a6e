#include "sim/sweep_estimate.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "simulation/workload.h"

namespace homa::tools::sim {
namespace {

constexpr double kFramePayload = 1400;  // of any carrier, near enough
/// Below it a rate is noise.
constexpr double kEnoughToTell = 0.01;

}  // namespace

double expected_cost(const simulation::RunSpec& spec) {
  if (spec.generator == simulation::Generator::incast) {
    return static_cast<double>(spec.messages) * (1 + static_cast<double>(spec.incast_response_bytes) / kFramePayload);
  }
  const auto workload = simulation::Workload::load(spec.workload);
  const double mean = workload ? workload->mean() : kFramePayload;
  return static_cast<double>(spec.messages) * (1 + mean / kFramePayload);
}

SweepEstimate::SweepEstimate(std::vector<double> weights) : weights_(std::move(weights)), parts_(weights_.size(), 0) {}

void SweepEstimate::progress(std::size_t run, double part) {
  parts_[run] = std::max(parts_[run], std::clamp(part, 0.0, 1.0));
}

double SweepEstimate::done() const {
  const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  return total > 0 ? std::inner_product(weights_.begin(), weights_.end(), parts_.begin(), 0.0) / total : 1;
}

std::optional<Duration> SweepEstimate::remaining(Duration elapsed) const {
  const double part = done();
  if (part < kEnoughToTell) return std::nullopt;
  return Duration(static_cast<Duration::rep>(static_cast<double>(elapsed.count()) * (1 - part) / part));
}

std::string human_remaining(Duration remaining) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(remaining).count();
  if (seconds < 90) return fmt::format("{} s", seconds);
  const auto minutes = (seconds + 30) / 60;
  if (minutes < 90) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace homa::tools::sim
