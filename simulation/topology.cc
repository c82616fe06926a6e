#include "simulation/topology.h"

#include <fmt/format.h>

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "simulation/data_files.h"

namespace homa::simulation {
namespace {

/// Host numbers travel in 16 bits.
constexpr std::uint32_t kMostHosts = 65536;
/// Ports of one switch: far above any that is built.
constexpr std::uint32_t kMostPorts = 4096;
constexpr double kFastestGbps = 10000;
constexpr std::int64_t kLongestDelayNs = 1'000'000'000;

/// Reads a file's tables key by key; remembers the first fault, with its line.
class Reader {
 public:
  Reader(const toml::table& root, std::string name) : root_(root), name_(std::move(name)) {}

  const std::string& fault() const { return fault_; }
  void fail(const toml::node* node, const std::string& what) {
    if (!fault_.empty()) return;
    const auto line = node != nullptr ? node->source().begin.line : 0;
    fault_ = line != 0 ? fmt::format("{}:{}: {}", name_, line, what) : fmt::format("{}: {}", name_, what);
  }

  const toml::node* find(std::string_view table, std::string_view key) const {
    const toml::table* from = &root_;
    if (!table.empty()) {
      from = root_[table].as_table();
      if (from == nullptr) return nullptr;
    }
    return from->get(key);
  }

  /// Absent and without default: a fault.
  std::int64_t integer(std::string_view table, std::string_view key, std::int64_t least, std::int64_t most,
                       std::optional<std::int64_t> otherwise = std::nullopt) {
    const toml::node* node = find(table, key);
    if (node == nullptr) return missing(table, key, otherwise, fmt::format("a number from {} to {}", least, most));
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < least || *value > most) {
      fail(node, fmt::format("{} must be a whole number from {} to {}", key, least, most));
      return least;
    }
    return *value;
  }

  double number(std::string_view table, std::string_view key, double above, double most,
                std::optional<double> otherwise = std::nullopt) {
    const toml::node* node = find(table, key);
    if (node == nullptr)
      return missing(table, key, otherwise, fmt::format("a number above {}, at most {}", above, most));
    const auto value = node->value<double>();
    if (!node->is_number() || !value || !(*value > above) || !(*value <= most)) {
      fail(node, fmt::format("{} must be a number above {}, at most {}", key, above, most));
      return most;
    }
    return *value;
  }

  template <typename Enum, std::size_t N>
  Enum choice(std::string_view table, std::string_view key,
              const std::array<std::pair<std::string_view, Enum>, N>& choices, std::optional<Enum> otherwise) {
    std::string names;
    for (const auto& [text, value] : choices) names += fmt::format("{}\"{}\"", names.empty() ? "" : " or ", text);
    const toml::node* node = find(table, key);
    if (node == nullptr) return missing(table, key, otherwise, names);
    const auto text = node->value_exact<std::string_view>();
    for (const auto& [candidate, value] : choices) {
      if (text == candidate) return value;
    }
    fail(node, fmt::format("{} must be {}", key, names));
    return choices[0].second;
  }

  /// Everything in `table` must be among `known`.
  void only(std::string_view table, std::initializer_list<std::string_view> known) {
    const toml::node* node = table.empty() ? &root_ : root_.get(table);
    if (node == nullptr) return;
    const toml::table* from = node->as_table();
    if (from == nullptr) return fail(node, fmt::format("[{}] must be a table", table));
    for (const auto& [key, value] : *from) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      std::string names;
      for (const auto& name : known) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
      fail(&value, fmt::format("unknown key '{}'; here may stand: {}", key.str(), names));
    }
  }

 private:
  template <typename T>
  T missing(std::string_view table, std::string_view key, const std::optional<T>& otherwise, const std::string& form) {
    if (otherwise) return *otherwise;
    const toml::node* place = table.empty() ? nullptr : root_.get(table);
    fail(place, fmt::format("{}{}{} is missing; give it {}", table, table.empty() ? "" : ".", key, form));
    return T{};
  }

  const toml::table& root_;
  std::string name_;
  std::string fault_;
};

constexpr std::array<std::pair<std::string_view, TopologyKind>, 2> kKinds{
    {{"leaf_spine", TopologyKind::leaf_spine}, {"three_tier", TopologyKind::three_tier}}};
constexpr std::array<std::pair<std::string_view, Forwarding>, 2> kForwardings{
    {{"store_and_forward", Forwarding::store_and_forward}, {"cut_through", Forwarding::cut_through}}};
constexpr std::array<std::pair<std::string_view, Routing>, 2> kRoutings{
    {{"spray", Routing::spray}, {"hash", Routing::hash}}};
constexpr std::array<std::pair<std::string_view, Buffering>, 3> kBufferings{
    {{"unlimited", Buffering::unlimited}, {"per_port", Buffering::per_port}, {"shared", Buffering::shared}}};

void read_shape(Reader& reader, Topology& topology) {
  reader.only("",
              {"kind", "pods", "leaves", "spines", "cores_per_group", "hosts_per_leaf", "links", "switches", "hosts"});
  const auto count = [&](std::string_view key) {
    return static_cast<std::uint32_t>(reader.integer("", key, 1, kMostPorts));
  };
  topology.kind = reader.choice("", "kind", kKinds, std::optional(TopologyKind::leaf_spine));
  topology.leaves = count("leaves");
  topology.spines = count("spines");
  topology.hosts_per_leaf = count("hosts_per_leaf");
  if (topology.kind == TopologyKind::three_tier) {
    topology.pods = count("pods");
    topology.cores_per_group = count("cores_per_group");
    return;
  }
  for (const char* key : {"pods", "cores_per_group"}) {
    if (const toml::node* node = reader.find("", key)) {
      reader.fail(node, fmt::format("{} belongs to kind = \"three_tier\"", key));
    }
  }
}

void read_links(Reader& reader, Topology& topology) {
  reader.only("links", {"host_gbps", "uplink_gbps", "core_gbps", "delay_ns"});
  const auto rate = [&](std::string_view key) {
    return Rate::gigabits_per_second(reader.number("links", key, 0, kFastestGbps));
  };
  topology.host_rate = rate("host_gbps");
  topology.uplink_rate = rate("uplink_gbps");
  topology.link_delay = Duration(reader.integer("links", "delay_ns", 0, kLongestDelayNs, 0));
  if (topology.kind == TopologyKind::three_tier) {
    topology.core_rate = rate("core_gbps");
  } else if (const toml::node* node = reader.find("links", "core_gbps")) {
    reader.fail(node, "core_gbps belongs to kind = \"three_tier\"");
  }
}

void read_switches(Reader& reader, Topology& topology) {
  reader.only("switches", {"delay_ns", "forwarding", "routing", "priority_levels", "buffering", "buffer_bytes",
                           "buffer_alpha", "ecn_threshold_bytes"});
  topology.switch_delay = Duration(reader.integer("switches", "delay_ns", 0, kLongestDelayNs, 0));
  topology.forwarding =
      reader.choice("switches", "forwarding", kForwardings, std::optional(Forwarding::store_and_forward));
  topology.routing = reader.choice("switches", "routing", kRoutings, std::optional(Routing::spray));
  topology.priority_levels =
      static_cast<std::uint32_t>(reader.integer("switches", "priority_levels", 1, kPriorityLevels, kPriorityLevels));
  topology.buffering = reader.choice("switches", "buffering", kBufferings, std::optional(Buffering::unlimited));
  constexpr std::int64_t kLargestBuffer = std::int64_t{1} << 40;
  if (topology.buffering != Buffering::unlimited) {
    // A frame of 9000 bytes must fit, or nothing passes.
    topology.buffer_bytes =
        static_cast<std::uint64_t>(reader.integer("switches", "buffer_bytes", 10000, kLargestBuffer));
  }
  if (topology.buffering == Buffering::shared) {
    topology.buffer_alpha = reader.number("switches", "buffer_alpha", 0, 1024, 1.0);
  }
  topology.ecn_threshold_bytes =
      static_cast<std::uint64_t>(reader.integer("switches", "ecn_threshold_bytes", 0, kLargestBuffer, 0));
}

void read_hosts(Reader& reader, Topology& topology) {
  reader.only("hosts", {"transmit_delay_ns", "receive_delay_ns", "delivery_lead_ns"});
  const auto delay = [&](std::string_view key) {
    return Duration(reader.integer("hosts", key, 0, kLongestDelayNs, 0));
  };
  topology.transmit_delay = delay("transmit_delay_ns");
  topology.receive_delay = delay("receive_delay_ns");
  topology.delivery_lead = delay("delivery_lead_ns");
}

void check_whole(Reader& reader, const Topology& topology) {
  const std::uint64_t hosts = std::uint64_t{topology.pods} * topology.leaves * topology.hosts_per_leaf;
  if (hosts < 2) reader.fail(reader.find("", "hosts_per_leaf"), "a network needs two hosts at least");
  if (hosts > kMostHosts) {
    reader.fail(reader.find("", "leaves"), fmt::format("{} hosts; at most {} can be simulated", hosts, kMostHosts));
  }
  if (topology.hosts_per_leaf + topology.spines > kMostPorts) {
    reader.fail(reader.find("", "spines"), fmt::format("a leaf may have {} ports at most", kMostPorts));
  }
  if (topology.delivery_lead > topology.receive_delay) {
    reader.fail(reader.find("hosts", "delivery_lead_ns"),
                "delivery_lead_ns must not exceed receive_delay_ns: no message is delivered before it has arrived");
  }
}

}  // namespace

double Topology::oversubscription() const {
  return static_cast<double>(hosts_per_leaf) * static_cast<double>(host_rate.bytes_per_second()) /
         (static_cast<double>(spines) * static_cast<double>(uplink_rate.bytes_per_second()));
}

Outcome<Topology> parse_topology(std::string_view text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return Outcome<Topology>::failure(fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
  Reader reader(table, name);
  Topology topology;
  read_shape(reader, topology);
  read_links(reader, topology);
  read_switches(reader, topology);
  read_hosts(reader, topology);
  if (reader.fault().empty()) check_whole(reader, topology);
  if (!reader.fault().empty()) return Outcome<Topology>::failure(reader.fault());
  topology.name = name;
  return Outcome<Topology>::of(std::move(topology));
}

Outcome<Topology> load_topology(const std::string& path) {
  const std::string file = find_topology_file(path);
  std::ifstream input(file);
  std::stringstream text;
  if (!input || !(text << input.rdbuf())) {
    return Outcome<Topology>::failure(
        fmt::format("{}: cannot read this topology; give a file, or one of: {}", path, topology_names()));
  }
  return parse_topology(text.str(), file);
}

Outcome<Topology> with_hosts(Topology topology, std::uint32_t hosts) {
  const bool three_tier = topology.kind == TopologyKind::three_tier;
  const std::uint32_t unit = topology.hosts_per_leaf * (three_tier ? topology.leaves : 1);
  const std::uint32_t parts = hosts / unit;
  if (hosts < 2 || hosts % unit != 0 || hosts > kMostHosts || (three_tier && parts > kMostPorts)) {
    return Outcome<Topology>::failure(
        fmt::format("topology {} cannot have {} hosts: its {} have {} each; give a multiple of that, at most {}",
                    topology.name, hosts, three_tier ? "pods" : "leaves", unit, kMostHosts));
  }
  (three_tier ? topology.pods : topology.leaves) = parts;
  return Outcome<Topology>::of(std::move(topology));
}

}  // namespace homa::simulation
