// Pictures for papers, drawn by gnuplot: panels side by side with one key below.
//
// Values and pure functions, but for draw().
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace homa::tools::sim {

struct Sample {
  double x = 0;
  double y = 0;
  double low = 0;  ///< interval of y; equal to y when there is none
  double high = 0;
};

/// Decides colour and dash, the same in every picture.
enum class CurveRole : std::uint8_t {
  ours,       ///< strong, in a colour of its own, with its interval as a band
  published,  ///< thin
  reference,  ///< what `ours` is held against: black, dashed
};

struct Curve {
  std::string title;
  CurveRole role = CurveRole::ours;
  std::vector<Sample> samples;
};

struct Tick {
  double position = 0;
  std::string label;
};

struct Panel {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
  std::vector<Tick> ticks;  ///< of x; empty: gnuplot chooses
  double x_min = 0;         ///< equal: gnuplot chooses
  double x_max = 0;
  std::vector<Curve> curves;  ///< the same titles in every panel of a figure
};

struct Figure {
  std::string name;  ///< of its files
  std::vector<Panel> panels;
};

/// A script with the data in it. Its variables `kind` ("svg" or "png") and `file` choose what it makes, so that it can
/// be run by hand, and changed, later.
std::string gnuplot_script(const Figure& figure);
/// Writes NAME.gp and by it NAME.svg and NAME.png. Returns what went wrong with gnuplot, or nothing; the script is
/// there in any case. Throws Failure when the folder cannot be written.
std::string draw(const Figure& figure, const std::filesystem::path& folder);

}  // namespace homa::tools::sim
