#include "sim/figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "failure.h"
#include "sim/process.h"

namespace homa::tools::sim {
namespace {

constexpr int kPanelWidth = 480;
constexpr int kPanelHeight = 340;
constexpr int kKeyRowHeight = 20;
constexpr int kKeyColumns = 3;
constexpr std::size_t kPanelsPerRow = 3;
/// A picture of one panel is wider than it, for its key.
constexpr int kKeyWidthMore = 240;
/// With more samples than these, points would hide the line.
constexpr std::size_t kMostPoints = 30;
/// Between the outermost samples and the frame of a logarithmic axis, as a factor.
constexpr double kAir = 1.15;

// Okabe and Ito's colours, which colour-blind readers can tell apart.
constexpr std::array kOurColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};
constexpr std::array kPublishedColours{"#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#8C8C8C", "#B8A500"};

/// As a double-quoted string of gnuplot. Enhanced text is off, so that nothing else has a meaning.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

std::string line_style(const Curve& curve, std::size_t nth) {
  switch (curve.role) {
    case CurveRole::ours:
      return fmt::format("lc rgb '{}' lw 2.6", kOurColours[nth % kOurColours.size()]);
    case CurveRole::published:
      return fmt::format("lc rgb '{}' lw 1.4", kPublishedColours[nth % kPublishedColours.size()]);
    case CurveRole::reference:
      return "lc rgb 'black' lw 1.8 dt (8,4)";
  }
  return {};
}

bool has_interval(const Curve& curve) {
  return std::any_of(curve.samples.begin(), curve.samples.end(), [](const Sample& s) { return s.high > s.low; });
}

std::string data_block(const std::string& name, const Curve& curve) {
  std::string text = name + " << EOD\n";
  for (const Sample& s : curve.samples) text += fmt::format("{:.6g} {:.6g} {:.6g} {:.6g}\n", s.x, s.y, s.low, s.high);
  return text + "EOD\n";
}

const char* kind_of_line(const Curve& curve) {
  const bool has_points = curve.role == CurveRole::ours && curve.samples.size() <= kMostPoints;
  return has_points ? "linespoints pt 7 ps 0.6" : "lines";
}

/// The plot elements of one curve: its band, below everything, and its line.
void add_elements(const Curve& curve, const std::string& data, std::size_t colour, std::vector<std::string>& bands,
                  std::vector<std::string>& lines) {
  if (curve.role == CurveRole::ours && has_interval(curve)) {
    bands.push_back(
        fmt::format("{} using 1:3:4 with filledcurves fs transparent solid 0.18 noborder lc rgb '{}' notitle", data,
                    kOurColours[colour % kOurColours.size()]));
  }
  lines.push_back(fmt::format("{} using 1:2 with {} {} notitle", data, kind_of_line(curve), line_style(curve, colour)));
}

/// Marks of a logarithmic axis that a reader can take values from: 1, 2, 5, 10, 20, 50 ...; none over many decades,
/// Marks of a logarithmic axis that a reader can take values from: 1, 2, 5, 10, 20 ..., closer ones within a decade,
/// and over many decades those of gnuplot.
std::string log_marks(double low, double high) {
  if (high / low > 3000) return "set ytics autofreq\n";
  const std::vector<double> steps =
      high / low < 10 ? std::vector{1.0, 1.5, 2.0, 3.0, 5.0, 7.0} : std::vector{1.0, 2.0, 5.0};
  std::string marks;
  for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10) {
    for (const double step : steps) {
      const double mark = decade * step;
      if (mark >= low * 0.999 && mark <= high * 1.001)
        marks += fmt::format("{}{:.6g}", marks.empty() ? "" : ", ", mark);
    }
  }
  return "set ytics (" + marks + ")\n";
}

/// Just wide enough for the lines; bands may reach out of it.
std::string y_axis(const Panel& panel) {
  if (!panel.log_y) return "unset logscale y\nset yrange [0:*]\nset ytics autofreq\n";
  double low = 0;
  double high = 0;
  for (const Curve& curve : panel.curves) {
    for (const Sample& sample : curve.samples) {
      if (!(sample.y > 0)) continue;
      low = low == 0 ? sample.y : std::min(low, sample.y);
      high = std::max(high, sample.y);
    }
  }
  if (low == 0) return "unset logscale y\nset yrange [0:1]\nset ytics autofreq\n";
  low /= kAir;
  high *= kAir;
  return fmt::format("set logscale y\nset yrange [{:.4g}:{:.4g}]\n{}", low, high, log_marks(low, high));
}

std::string panel_script(const Panel& panel, std::size_t number) {
  std::string text = fmt::format("set title {}\nset xlabel {}\nset ylabel {}\n", quoted(panel.title),
                                 quoted(panel.x_label), quoted(panel.y_label));
  text += panel.log_x ? "set logscale x\n" : "unset logscale x\n";
  text += y_axis(panel);
  text += panel.x_max > panel.x_min ? fmt::format("set xrange [{:.6g}:{:.6g}]\n", panel.x_min, panel.x_max)
                                    : std::string("set xrange [*:*]\n");
  if (panel.ticks.empty()) {
    text += "set xtics auto norotate\n";
  } else {
    text += "set xtics (";
    for (std::size_t t = 0; t < panel.ticks.size(); ++t) {
      text += fmt::format("{}{} {:.6g}", t == 0 ? "" : ", ", quoted(panel.ticks[t].label), panel.ticks[t].position);
    }
    text += ")\n";
  }
  std::vector<std::string> bands;
  std::vector<std::string> lines;
  std::array<std::size_t, 3> nth{};
  for (std::size_t c = 0; c < panel.curves.size(); ++c) {
    const Curve& curve = panel.curves[c];
    const std::size_t colour = nth[static_cast<std::size_t>(curve.role)]++;
    if (curve.samples.empty()) continue;
    const std::string data = fmt::format("$p{}c{}", number, c);
    text += data_block(data, curve);
    add_elements(curve, data, colour, bands, lines);
  }
  bands.insert(bands.end(), lines.begin(), lines.end());
  if (bands.empty()) bands.emplace_back("NaN notitle");
  return text + fmt::format("plot {}\n", fmt::join(bands, ", \\\n     "));
}

/// A last plot, empty and as wide as the picture, that has the key of all panels.
std::string key_script(const std::vector<Curve>& curves) {
  std::string text =
      "unset title\nunset xlabel\nunset ylabel\nunset tics\nunset border\nunset grid\nunset logscale\n"
      "set lmargin at screen 0.01\nset rmargin at screen 0.99\nset bmargin at screen 0\nset tmargin at screen 1\n"
      "set xrange [0:1]\nset yrange [0:1]\n";
  std::vector<std::string> entries;
  std::array<std::size_t, 3> nth{};
  for (const Curve& curve : curves) {
    const std::size_t colour = nth[static_cast<std::size_t>(curve.role)]++;
    entries.push_back(
        fmt::format("NaN with {} {} title {}", kind_of_line(curve), line_style(curve, colour), quoted(curve.title)));
  }
  return text + fmt::format("plot {}\n", fmt::join(entries, ", \\\n     "));
}

}  // namespace

std::string gnuplot_script(const Figure& figure) {
  const std::size_t columns = std::clamp<std::size_t>(figure.panels.size(), 1, kPanelsPerRow);
  const std::size_t rows = (figure.panels.size() + columns - 1) / columns;
  const std::vector<Curve> curves = figure.panels.empty() ? std::vector<Curve>{} : figure.panels.front().curves;
  const int key_height = kKeyRowHeight * static_cast<int>((curves.size() + kKeyColumns - 1) / kKeyColumns) + 8;
  const int width = kPanelWidth * static_cast<int>(columns) + (columns == 1 ? kKeyWidthMore : 0);
  const int height = kPanelHeight * static_cast<int>(rows) + key_height;
  const auto part_x = [&](int pixels) { return static_cast<double>(pixels) / width; };
  const auto part_y = [&](int pixels) { return static_cast<double>(pixels) / height; };
  std::string text = fmt::format(
      "# gnuplot {0}.gp draws {0}.svg; gnuplot -e \"kind='png'\" {0}.gp draws {0}.png.\n"
      "if (!exists(\"kind\")) kind = \"svg\"\n"
      "if (!exists(\"file\")) file = \"{0}.\" . kind\n"
      "if (kind eq \"png\") {{\n"
      "  set terminal pngcairo noenhanced font \"DejaVu Sans,10\" fontscale 2 linewidth 2 size {1},{2} background "
      "'white'\n"
      "}} else {{\n"
      "  set terminal svg noenhanced font \"DejaVu Sans,12\" linewidth 1 size {3},{4} background 'white'\n"
      "}}\n"
      "set output file\n"
      "set border 3 lc rgb '#404040'\nset tics nomirror out scale 0.6\nset grid ytics lc rgb '#DDDDDD' lt 1 lw 0.6\n"
      "unset key\n",
      figure.name, width * 2, height * 2, width, height);
  text +=
      fmt::format("set multiplot layout {},{} margins {:.4f},{:.4f},{:.4f},{:.4f} spacing {:.4f},{:.4f}\n", rows,
                  columns, part_x(86), 1 - part_x(30), part_y(key_height + 52), 1 - part_y(40), part_x(96), part_y(88));
  for (std::size_t p = 0; p < figure.panels.size(); ++p) text += panel_script(figure.panels[p], p);
  text += fmt::format("set key at screen 0.5,{:.4f} center bottom horizontal maxcols {} Left reverse samplen 2.5\n",
                      part_y(4), kKeyColumns);
  return text + key_script(curves) + "unset multiplot\nset output\n";
}

std::string draw(const Figure& figure, const std::filesystem::path& folder) {
  const std::filesystem::path script = folder / (figure.name + ".gp");
  std::ofstream output(script);
  output << gnuplot_script(figure);
  output.close();
  if (!output) throw usage_failure(fmt::format("cannot write {}", script.string()));
  for (const char* kind : {"svg", "png"}) {
    const auto picture = folder / fmt::format("{}.{}", figure.name, kind);
    const auto setting = fmt::format("kind={}; file={}", quoted(kind), quoted(picture.string()));
    const Ended ended = run_program({"gnuplot", "-e", setting, script.string()});
    if (ended.exit_code == Ended::kNotFound) return "gnuplot is missing (apt-get install gnuplot-nox)";
    if (ended.exit_code != 0) return fmt::format("gnuplot {}: {}", script.string(), ended.output);
  }
  return {};
}

}  // namespace homa::tools::sim
