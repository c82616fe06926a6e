// Published numbers to compare with: data/published.
//
// Immutable after load().
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/points.h"

namespace homa::tools::sim {

struct PublishedBucket {
  std::uint64_t largest_bytes = 0;
  double count_fraction = 0;  ///< cumulative, up to and including this bucket
  double p50 = 0;
  double p99 = 0;

  double of(Statistic statistic) const { return statistic == Statistic::p50 ? p50 : p99; }
};

/// From HOMA_PUBLISHED, the installed place or the source tree. Throws Failure when a file is missing or malformed.
class Published {
 public:
  static Published load();
  /// The same, but the curves are those that were measured on a cluster: transports "Homa 8 levels" .. "Homa 1 level".
  static Published load_cluster();
  /// `text` is the CSV; `name` stands before the line number in errors.
  static Published parse(const std::string& csv, const std::string& name, const nlohmann::json& numbers);

  /// Empty when nothing was published for it. `workload` "w1" .. "w5".
  const std::vector<PublishedBucket>& curve(const std::string& transport, const std::string& workload,
                                            double load) const;
  /// "Homa" first.
  const std::vector<std::string>& transports() const { return transports_; }
  /// Of Homa, messages from .. to on the axis of cumulative count: the mean of buckets, weighted by their share of it.
  std::optional<double> mean_between(const std::string& workload, double load, Statistic statistic, double from,
                                     double to) const;
  /// As of_shortest_half() of ours.
  std::optional<double> shortest_half(const std::string& transport, const std::string& workload, double load,
                                      Statistic statistic) const;
  /// A number of homa18.json by its JSON pointer: "/most_load/w4".
  std::optional<double> number(const std::string& pointer) const;

 private:
  static Published load_curves(const char* name);

  std::map<std::string, std::vector<PublishedBucket>> curves_;
  std::vector<std::string> transports_;
  nlohmann::json numbers_;
};

}  // namespace homa::tools::sim
