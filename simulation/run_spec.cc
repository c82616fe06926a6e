#include "simulation/run_spec.h"

#include <fmt/format.h>

#include "simulation/json_fields.h"
#include "simulation/spec_fields.h"

namespace homa::simulation {
namespace {

constexpr double kLongestRunUs = 1e9;

template <typename T>
std::string out_of_range(const char* name, T least, T most) {
  return fmt::format("{} must lie in {} .. {}", name, least, most);
}

std::string fault_of_combination(const RunSpec& spec) {
  const bool native = spec.carrier == RunCarrier::native;
  if (native && spec.loss_rate > 0) return "loss_rate needs carrier datagram: native has no loss recovery yet";
  if (native && spec.generator == Generator::incast) {
    return "generator incast needs carrier datagram: native has no incast control";
  }
  if (spec.policy == "oracle" && (!native || spec.generator != Generator::poisson_one_way)) {
    return "policy oracle needs carrier native and generator poisson_one_way";
  }
  if (spec.policy == "homa18" && !native) return "policy homa18 needs carrier native; datagram has policy libhoma";
  if (spec.scheduled_levels >= spec.priority_levels && spec.priority_levels > 1) {
    return "scheduled_levels must be below priority_levels: unscheduled bytes need a level too";
  }
  return {};
}

}  // namespace

std::string fault_of(const RunSpec& spec) {
  if (spec.policy != "homa18" && spec.policy != "libhoma" && spec.policy != "oracle") {
    return fmt::format("policy '{}' is unknown; there are homa18, libhoma and oracle", spec.policy);
  }
  if (!(spec.load > 0) || spec.load > 1) return "load must be above 0 and at most 1 (1 is the rate of the host links)";
  if (!(spec.loss_rate >= 0) || spec.loss_rate > 0.5) return out_of_range("loss_rate", 0.0, 0.5);
  if (spec.overcommitment > 64) return out_of_range("overcommitment", 0, 64);
  if (spec.scheduled_levels > 7) return out_of_range("scheduled_levels", 0, 7);
  if (spec.priority_levels < 1 || spec.priority_levels > 8) return out_of_range("priority_levels", 1, 8);
  if (spec.unscheduled_bytes > (1u << 30)) return out_of_range("unscheduled_bytes", 0, 1 << 30);
  if (spec.incast_width < 1 || spec.incast_width > 100000) return out_of_range("incast_width", 1, 100000);
  if (spec.incast_response_bytes < 1 || spec.incast_response_bytes > (1u << 30)) {
    return out_of_range("incast_response_bytes", 1, 1 << 30);
  }
  if (spec.messages < 1 || spec.messages > 1'000'000'000) return out_of_range("messages", 1, 1'000'000'000);
  for (const auto& [name, value] : {std::pair{"duration_us", spec.duration_us}, {"warm_up_us", spec.warm_up_us}}) {
    if (!(value >= 0) || value > kLongestRunUs) return out_of_range(name, 0.0, kLongestRunUs);
  }
  if (spec.duration_us > 0 && spec.warm_up_us >= spec.duration_us) return "warm_up_us must be below duration_us";
  if (spec.watched_relaxations > 1000) return out_of_range("watched_relaxations", 0, 1000);
  if (spec.buckets < 1 || spec.buckets > 1000) return out_of_range("buckets", 1, 1000);
  return fault_of_combination(spec);
}

nlohmann::json to_json(const RunSpec& spec) {
  return write_json(spec);
}

Outcome<RunSpec> spec_from_json(const nlohmann::json& json) {
  RunSpec spec;
  JsonReader reader;
  reader.read(json, spec, "");
  if (!reader.fault().empty()) return Outcome<RunSpec>::failure(reader.fault());
  if (const std::string fault = fault_of(spec); !fault.empty()) return Outcome<RunSpec>::failure(fault);
  return Outcome<RunSpec>::of(std::move(spec));
}

const char* to_string(RunCarrier carrier) {
  return name_of(carrier);
}
const char* to_string(LoadKind kind) {
  return name_of(kind);
}
const char* to_string(Generator generator) {
  return name_of(generator);
}

}  // namespace homa::simulation
