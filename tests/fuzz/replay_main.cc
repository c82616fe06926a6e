// Runs a fuzz target without libFuzzer, so that it is built and exercised by every compiler and sanitizer.
//
// With arguments: each file, and each file of each directory, is one input. Without: a fixed series of pseudo-random
// inputs, the same in every run, so a failure repeats under a debugger.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/rng.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kRandomInputs = 5000;
constexpr std::uint64_t kMaxRandomSize = 1500;  // one Ethernet payload; longer noise reaches nothing new

bool run_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::printf("%s (%zu bytes)\n", path.c_str(), content.size());
  std::fflush(stdout);  // a crash must not lose the name of its input
  const std::vector<std::uint8_t> input(content.begin(), content.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
  return true;
}

bool run_path(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return run_file(path);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return std::all_of(files.begin(), files.end(), run_file);
}

/// Half of the inputs are short and half of the bytes small: formats begin with small codes and lengths.
std::vector<std::uint8_t> random_input(homa::Rng& rng) {
  const std::uint64_t size_max = rng.chance(0.5) ? 64 : kMaxRandomSize;
  std::vector<std::uint8_t> input(rng.below(size_max + 1));
  for (auto& byte : input) byte = static_cast<std::uint8_t>(rng.below(rng.chance(0.5) ? 32 : 256));
  return input;
}

void run_random_inputs() {
  homa::Rng rng(1);
  for (int i = 0; i < kRandomInputs; ++i) {
    const std::vector<std::uint8_t> input = random_input(rng);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%d pseudo-random inputs\n", kRandomInputs);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    run_random_inputs();
    return 0;
  }
  const std::vector<std::filesystem::path> paths(argv + 1, argv + argc);
  return std::all_of(paths.begin(), paths.end(), run_path) ? 0 : 1;
}
