// What an experiment found, as values: tables for people, checks against targets, figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/figure.h"

namespace homa::tools::sim {

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

/// A number and the range in which it should lie.
struct Check {
  std::string what;
  double value = 0;
  double low = 0;
  double high = 0;
  bool is_met = false;
};

struct Report {
  std::vector<Table> tables;
  std::vector<Check> checks;
  std::vector<std::string> remarks;  ///< whole sentences: what diverged, what is missing
  std::vector<Figure> figures;
  /// A check that is missed makes the command fail: the experiment is a test.
  bool is_test = false;

  /// An absent bound does not bind. Returns the word for the table: "met" or "missed".
  const char* check(const std::string& what, double value, std::optional<double> low, std::optional<double> high);
  bool all_met() const;
};

/// Columns aligned, the first to the left and the others to the right.
std::string to_text(const Table& table);
/// Tables, remarks, and how many checks are met, with each that is missed.
std::string to_text(const Report& report);
nlohmann::json checks_to_json(const Report& report);

}  // namespace homa::tools::sim
