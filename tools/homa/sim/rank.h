// Which part of a plan is ours, when many workers share it: as the launcher's environment says.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace homa::tools::sim {

struct Rank {
  std::size_t index = 0;
  std::size_t of = 1;
};

/// Reads a variable of the environment: nullptr when it is not set.
using ReadVariable = std::function<const char*(const char*)>;

/// From Open MPI, PMI (MPICH, Intel MPI), a Slurm job array, or Slurm's srun, in this order; nothing when none of them
/// started us. Throws Failure when their numbers make no sense.
std::optional<Rank> rank_of_launcher(const ReadVariable& variable);
/// Every run i with i mod rank.of == rank.index: neighbours in the plan, which are alike, go to different workers.
std::vector<std::size_t> share_of(const Rank& rank, std::size_t runs);

}  // namespace homa::tools::sim
