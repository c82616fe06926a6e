#include "sim/rank.h"

#include <fmt/format.h>

#include "failure.h"
#include "parse.h"

namespace homa::tools::sim {
namespace {

struct Launcher {
  const char* index;
  const char* size;
  const char* first;  ///< the index from which it counts; null: 0
};

constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
    {"PMI_RANK", "PMI_SIZE", nullptr},
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"},
    {"SLURM_PROCID", "SLURM_NTASKS", nullptr},
};

std::size_t number_in(const ReadVariable& variable, const char* name) {
  const char* text = variable(name);
  const auto number = text == nullptr ? std::nullopt : parse_unsigned(text);
  if (!number) {
    throw usage_failure(fmt::format("{} must be a number here, and is {}; give --rank and --of instead", name,
                                    text == nullptr ? "not set" : fmt::format("'{}'", text)));
  }
  return *number;
}

}  // namespace

std::optional<Rank> rank_of_launcher(const ReadVariable& variable) {
  for (const Launcher& launcher : kLaunchers) {
    if (variable(launcher.index) == nullptr) continue;
    const std::size_t first = launcher.first == nullptr ? 0 : number_in(variable, launcher.first);
    const std::size_t index = number_in(variable, launcher.index);
    const std::size_t size = number_in(variable, launcher.size);
    if (index < first || index - first >= size) {
      throw usage_failure(fmt::format("{}={} is not one of {}={} from {} on; give --rank and --of instead",
                                      launcher.index, index, launcher.size, size, first));
    }
    return Rank{index - first, size};
  }
  return std::nullopt;
}

std::vector<std::size_t> share_of(const Rank& rank, std::size_t runs) {
  std::vector<std::size_t> share;
  for (std::size_t i = rank.index; i < runs; i += rank.of) share.push_back(i);
  return share;
}

}  // namespace homa::tools::sim
