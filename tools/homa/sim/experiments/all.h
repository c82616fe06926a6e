// The experiments, one file each.
#pragma once

#include "sim/experiment.h"

namespace homa::tools::sim {

Experiment homa18_slowdown();
Experiment homa18_load();
Experiment homa18_queues();
Experiment homa18_priorities();
Experiment carriers();
Experiment incast();
Experiment loss();
Experiment victim();
Experiment oversubscription();
Experiment smoke();

}  // namespace homa::tools::sim
