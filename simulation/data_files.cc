#include "simulation/data_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace homa::simulation {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> places(const char* variable, const char* installed, const char* source) {
  std::vector<fs::path> result;
  if (const char* chosen = std::getenv(variable)) result.emplace_back(chosen);
  result.emplace_back(installed);
  result.emplace_back(source);
  return result;
}

std::vector<fs::path> topology_places() {
  return places("HOMA_TOPOLOGIES", HOMA_INSTALLED_DATA "/simulation", HOMA_SOURCE_DATA "/simulation");
}

std::string find(const std::string& name, const std::vector<fs::path>& folders, const char* suffix) {
  std::error_code ignored;
  if (fs::is_regular_file(name, ignored) || name.find('/') != std::string::npos) return name;
  for (const auto& folder : folders) {
    for (const auto& candidate : {folder / name, folder / (name + suffix)}) {
      if (fs::is_regular_file(candidate, ignored)) return candidate.string();
    }
  }
  return name;
}

}  // namespace

std::string find_workload_file(const std::string& name) {
  return find(name, places("HOMA_WORKLOADS", HOMA_INSTALLED_DATA "/workloads", HOMA_SOURCE_DATA "/workloads"), ".txt");
}

std::string find_topology_file(const std::string& name) {
  return find(name, topology_places(), ".toml");
}

std::string find_simulation_file(const std::string& name) {
  return find(name, topology_places(), "");
}

std::string topology_names() {
  std::vector<std::string> names;
  for (const auto& folder : topology_places()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace homa::simulation
