#include "sim/figure.h"

#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/format.h>

#include "failure.h"
#include "sim/process.h"

namespace homa::tools::sim {
namespace {

constexpr int kPanelWidth = 480;
constexpr int kPanelHeight = 340;
constexpr int kKeyRowHeight = 22;
constexpr int kKeyColumns = 4;
constexpr std::size_t kPanelsPerRow = 3;
/// With more samples than these, points would hide the line.
constexpr std::size_t kMostPoints = 30;

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

/// The plot elements of one curve: its band, below everything, and its line.
void add_elements(const Curve& curve, const std::string& data, std::size_t nth, std::vector<std::string>& bands,
                  std::vector<std::string>& lines) {
  if (curve.samples.empty()) {
    // Kept in the key: a panel for which nothing was published must not shift the colours of the others.
    lines.push_back(fmt::format("NaN with lines {} title {}", line_style(curve, nth), quoted(curve.title)));
    return;
  }
  if (curve.role == CurveRole::ours && has_interval(curve)) {
    bands.push_back(
        fmt::format("{} using 1:3:4 with filledcurves fs transparent solid 0.18 noborder lc rgb '{}' notitle", data,
                    kOurColours[nth % kOurColours.size()]));
  }
  const char* kind =
      curve.samples.size() <= kMostPoints && curve.role == CurveRole::ours ? "linespoints pt 7 ps 0.7" : "lines";
  lines.push_back(
      fmt::format("{} using 1:2 with {} {} title {}", data, kind, line_style(curve, nth), quoted(curve.title)));
}

std::string panel_script(const Panel& panel, std::size_t number) {
  std::string text = fmt::format("set title {}\nset xlabel {}\nset ylabel {}\n", quoted(panel.title),
                                 quoted(panel.x_label), quoted(panel.y_label));
  text += panel.log_x ? "set logscale x\n" : "unset logscale x\n";
  text += panel.log_y ? "set logscale y\n" : "unset logscale y\n";
  text += panel.log_y ? "set yrange [*:*]\n" : "set yrange [0:*]\n";
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
    const std::string data = fmt::format("$p{}c{}", number, c);
    const Curve& curve = panel.curves[c];
    if (!curve.samples.empty()) text += data_block(data, curve);
    add_elements(curve, data, nth[static_cast<std::size_t>(curve.role)]++, bands, lines);
  }
  // Ours on top, but first in the key: gnuplot draws in the order of the key, so ours come last in both.
  std::stable_partition(lines.begin(), lines.end(), [](const std::string& l) { return l.find("lw 2.6") == l.npos; });
  text += "plot ";
  for (const auto* list : {&bands, &lines}) {
    for (const std::string& element : *list) text += element + ", ";
  }
  text.resize(text.size() - 2);
  return text + "\n";
}

}  // namespace

std::string gnuplot_script(const Figure& figure) {
  const std::size_t columns = std::clamp<std::size_t>(figure.panels.size(), 1, kPanelsPerRow);
  const std::size_t rows = (figure.panels.size() + columns - 1) / columns;
  const std::size_t curves = figure.panels.empty() ? 0 : figure.panels.front().curves.size();
  const int key_height = kKeyRowHeight * static_cast<int>((curves + kKeyColumns - 1) / kKeyColumns) + 12;
  const int width = kPanelWidth * static_cast<int>(columns) + (columns == 1 ? 160 : 0);
  const int height = kPanelHeight * static_cast<int>(rows) + key_height;
  const auto part_x = [&](int pixels) { return static_cast<double>(pixels) / width; };
  const auto part_y = [&](int pixels) { return static_cast<double>(pixels) / height; };
  std::string text = fmt::format(
      "# gnuplot {0}.gp draws {0}.svg; gnuplot -e \"kind='png'\" {0}.gp draws {0}.png.\n"
      "if (!exists(\"kind\")) kind = \"svg\"\n"
      "if (!exists(\"file\")) file = \"{0}.\" . kind\n"
      "if (kind eq \"png\") {{\n"
      "  set terminal pngcairo noenhanced font \"DejaVu Sans,20\" fontscale 1 linewidth 2 size {1},{2} background "
      "'white'\n"
      "}} else {{\n"
      "  set terminal svg noenhanced font \"DejaVu Sans,12\" linewidth 1 size {3},{4} background 'white'\n"
      "}}\n"
      "set output file\n"
      "set border 3 lc rgb '#404040'\nset tics nomirror out scale 0.6\nset grid ytics lc rgb '#DDDDDD' lt 1 lw 0.6\n"
      "set key at screen 0.5,{5:.4f} center bottom horizontal maxcols {6} width 1 samplen 2.5\n",
      figure.name, width * 2, height * 2, width, height, part_y(6), kKeyColumns);
  text +=
      fmt::format("set multiplot layout {},{} margins {:.4f},{:.4f},{:.4f},{:.4f} spacing {:.4f},{:.4f}\n", rows,
                  columns, part_x(66), 1 - part_x(16), part_y(key_height + 56), 1 - part_y(30), part_x(76), part_y(88));
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    text += panel_script(figure.panels[p], p);
    if (p == 0) text += "unset key\n";
  }
  return text + "unset multiplot\nset output\n";
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
