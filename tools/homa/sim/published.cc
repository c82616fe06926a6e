#include "sim/published.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "failure.h"

namespace homa::tools::sim {
namespace {

namespace fs = std::filesystem;

std::string key_of(const std::string& transport, const std::string& workload, double load) {
  return fmt::format("{}/{}/{:.3f}", transport, workload, load);
}

fs::path find_folder() {
  std::vector<fs::path> folders{HOMA_INSTALLED_PUBLISHED, HOMA_SOURCE_PUBLISHED};
  if (const char* chosen = std::getenv("HOMA_PUBLISHED")) folders.insert(folders.begin(), chosen);
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / "homa18.json")) return folder;
  }
  throw usage_failure(fmt::format("no published results in {}; reinstall, or set HOMA_PUBLISHED to data/published",
                                  folders.front().string()));
}

std::string read_file(const fs::path& path) {
  std::ifstream input(path);
  std::stringstream text;
  if (!input || !(text << input.rdbuf())) throw usage_failure(fmt::format("cannot read {}", path.string()));
  return text.str();
}

struct Row {
  std::string transport;
  std::string workload;
  std::vector<double> numbers;  // load, size, count %, p50, p99
};

std::optional<Row> parse_row(const std::string& line) {
  constexpr std::size_t kNumbers = 5;
  Row row;
  std::istringstream fields(line);
  std::string field;
  for (std::size_t i = 0; std::getline(fields, field, ','); ++i) {
    if (i == 0) {
      row.transport = field;
    } else if (i == 2) {
      row.workload = field;
    } else {
      char* end = nullptr;
      row.numbers.push_back(std::strtod(field.c_str(), &end));
      if (end == field.c_str() || *end != '\0') return std::nullopt;
    }
  }
  if (row.numbers.size() != kNumbers) return std::nullopt;
  return row;
}

}  // namespace

Published Published::parse(const std::string& csv, const std::string& name, const nlohmann::json& numbers) {
  Published published;
  published.numbers_ = numbers;
  std::istringstream input(csv);
  std::string line;
  std::size_t number = 0;
  while (std::getline(input, line)) {
    ++number;
    if (line.empty() || line.front() == '#' || line.rfind("transport,", 0) == 0) continue;
    const auto row = parse_row(line);
    if (!row) {
      throw usage_failure(
          fmt::format("{}:{}: a line is transport,load,workload,size_bytes,count_percent,p50,p99", name, number));
    }
    auto& transports = published.transports_;
    if (std::find(transports.begin(), transports.end(), row->transport) == transports.end()) {
      transports.push_back(row->transport);
    }
    auto& curve = published.curves_[key_of(row->transport, row->workload, row->numbers[0])];
    const double before = curve.empty() ? 0 : curve.back().count_fraction;
    curve.push_back({static_cast<std::uint64_t>(row->numbers[1]), before + row->numbers[2] / 100, row->numbers[3],
                     row->numbers[4]});
  }
  return published;
}

Published Published::load() {
  return load_curves("homa18_sim_slowdown.csv");
}

Published Published::load_cluster() {
  return load_curves("homa18_cluster_slowdown.csv");
}

Published Published::load_curves(const char* name) {
  const fs::path folder = find_folder();
  const fs::path csv = folder / name;
  const fs::path numbers = folder / "homa18.json";
  const auto json = nlohmann::json::parse(read_file(numbers), nullptr, false);
  if (json.is_discarded()) throw usage_failure(fmt::format("{} is no JSON", numbers.string()));
  return parse(read_file(csv), csv.string(), json);
}

const std::vector<PublishedBucket>& Published::curve(const std::string& transport, const std::string& workload,
                                                     double load) const {
  static const std::vector<PublishedBucket> nothing;
  const auto found = curves_.find(key_of(transport, workload, load));
  return found == curves_.end() ? nothing : found->second;
}

std::optional<double> Published::mean_between(const std::string& workload, double load, Statistic statistic,
                                              double from, double to) const {
  double sum = 0;
  double weight = 0;
  double share = 0;
  for (const PublishedBucket& bucket : curve("Homa", workload, load)) {
    const double overlap = std::min(to, bucket.count_fraction) - std::max(from, share);
    share = bucket.count_fraction;
    if (overlap <= 0) continue;
    sum += bucket.of(statistic) * overlap;
    weight += overlap;
  }
  if (weight == 0) return std::nullopt;
  return sum / weight;
}

std::optional<double> Published::shortest_half(const std::string& transport, const std::string& workload, double load,
                                               Statistic statistic) const {
  double sum = 0;
  double share = 0;
  for (const PublishedBucket& bucket : curve(transport, workload, load)) {
    if (share >= 0.5) break;
    sum += bucket.of(statistic) * (bucket.count_fraction - share);
    share = bucket.count_fraction;
  }
  if (share == 0) return std::nullopt;
  return sum / share;
}

std::optional<double> Published::number(const std::string& pointer) const {
  const nlohmann::json::json_pointer at(pointer);
  if (!numbers_.contains(at) || !numbers_.at(at).is_number()) return std::nullopt;
  return numbers_.at(at).get<double>();
}

}  // namespace homa::tools::sim
