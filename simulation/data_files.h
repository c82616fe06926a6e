// Where the project keeps workloads and topologies: HOMA_WORKLOADS and HOMA_TOPOLOGIES, the installed place, the source
// tree.
#pragma once

#include <string>

namespace homa::simulation {

/// A path as it is when such a file exists or it has a '/'; else the project's own file of that name, if there is one.
std::string find_workload_file(const std::string& name);
std::string find_topology_file(const std::string& name);
/// Another file of data/simulation, by its whole name.
std::string find_simulation_file(const std::string& name);
/// "homa18, ...": what the project has.
std::string topology_names();

}  // namespace homa::simulation
