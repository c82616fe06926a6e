#include "sim/report.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace homa::tools::sim {
namespace {

constexpr double kUnbound = std::numeric_limits<double>::infinity();

std::string range_of(const Check& check) {
  if (check.low == -kUnbound) return fmt::format("at most {:.4g}", check.high);
  if (check.high == kUnbound) return fmt::format("at least {:.4g}", check.low);
  return fmt::format("{:.4g} to {:.4g}", check.low, check.high);
}

std::string aligned(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    line += c == 0 ? fmt::format("{:<{}}", cells[c], widths[c]) : fmt::format("  {:>{}}", cells[c], widths[c]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

nlohmann::json bound(double value) {
  if (value == kUnbound || value == -kUnbound) return nullptr;
  return value;
}

}  // namespace

const char* Report::check(const std::string& what, double value, std::optional<double> low,
                          std::optional<double> high) {
  Check check{what, value, low.value_or(-kUnbound), high.value_or(kUnbound), false};
  check.is_met = value >= check.low && value <= check.high;  // not of a NaN
  checks.push_back(check);
  return check.is_met ? "met" : "missed";
}

bool Report::all_met() const {
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.is_met; });
}

std::string to_text(const Table& table) {
  std::vector<std::size_t> widths;
  for (const std::string& column : table.columns) widths.push_back(column.size());
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text = table.title + "\n" + aligned(table.columns, widths);
  for (const auto& row : table.rows) text += aligned(row, widths);
  return text;
}

std::string to_text(const Report& report) {
  std::string text;
  for (const Table& table : report.tables) text += to_text(table) + "\n";
  for (const std::string& remark : report.remarks) text += remark + "\n";
  if (report.checks.empty()) return text;
  const auto met = std::count_if(report.checks.begin(), report.checks.end(), [](const Check& c) { return c.is_met; });
  text += fmt::format("{} of {} targets met\n", met, report.checks.size());
  for (const Check& check : report.checks) {
    if (!check.is_met)
      text += fmt::format("missed: {} is {:.4g}, should be {}\n", check.what, check.value, range_of(check));
  }
  return text;
}

nlohmann::json checks_to_json(const Report& report) {
  nlohmann::json list = nlohmann::json::array();
  for (const Check& check : report.checks) {
    list.push_back({{"what", check.what},
                    {"value", check.value},
                    {"low", bound(check.low)},
                    {"high", bound(check.high)},
                    {"met", check.is_met}});
  }
  return list;
}

}  // namespace homa::tools::sim
