// The sizes of the messages that `homa bench` sends.
#pragma once

#include <string>

#include "simulation/workload.h"

namespace homa::tools {

/// What `--size` takes: a number with an optional unit, or a size file. Throws Failure that says what is wrong.
simulation::Workload parse_sizes(const std::string& text);

}  // namespace homa::tools
