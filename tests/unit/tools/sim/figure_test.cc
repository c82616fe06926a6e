#include "sim/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/process.h"
#include "sim/report.h"
#include "sim/slowdown_figure.h"
#include "support.h"

namespace homa::tools::sim {
namespace {

using ::testing::HasSubstr;

Figure small_figure() {
  Panel panel{"t", "x", "y", false, true, {{0.5, "1.4 k"}}, 0, 1, {}};
  panel.curves.push_back({"Homa (published)", CurveRole::reference, {{0, 2, 2, 2}, {1, 3, 3, 3}}});
  panel.curves.push_back({"ours \"x\"", CurveRole::ours, {{0, 1, 0.9, 1.1}, {1, 2, 1.9, 2.1}}});
  panel.curves.push_back({"nothing", CurveRole::published, {}});
  return {"small", {panel, panel}};
}

TEST(Figure, TheScriptHoldsItsDataAndStyles) {
  const std::string script = gnuplot_script(small_figure());
  EXPECT_THAT(script, HasSubstr("set logscale y"));
  EXPECT_THAT(script, HasSubstr("set xtics (\"1.4 k\" 0.5)"));
  EXPECT_THAT(script, HasSubstr("$p1c1 << EOD\n0 1 0.9 1.1\n1 2 1.9 2.1\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("title \"ours \\\"x\\\"\""));
  EXPECT_THAT(script, HasSubstr("filledcurves"));
  EXPECT_THAT(script, HasSubstr("layout 1,2"));
  EXPECT_THAT(script, HasSubstr("NaN with lines lc rgb '#E69F00' lw 1.4 title \"nothing\""));  // in the key only
  EXPECT_EQ(script, gnuplot_script(small_figure()));
}

TEST(Figure, EveryLogarithmicAxisHasMarksToReadBy) {
  Figure figure = small_figure();  // from 1 to 3
  EXPECT_THAT(gnuplot_script(figure), HasSubstr("set ytics (1, 1.5, 2, 3)"));
  figure.panels[0].curves[1].samples.push_back({2, 90, 90, 90});
  EXPECT_THAT(gnuplot_script(figure), HasSubstr("set ytics (1, 2, 5, 10, 20, 50, 100)"));
}

TEST(Figure, OursIsDrawnOverWhatWasPublished) {
  const std::string script = gnuplot_script(small_figure());
  EXPECT_LT(script.find("$p0c0 using"), script.find("$p0c1 using 1:2"));
}

TEST(Figure, GnuplotAcceptsTheScript) {
  const TemporaryFolder folder;
  if (run_program({"gnuplot", "--version"}).exit_code != 0) GTEST_SKIP() << "gnuplot is missing: ./dev setup";
  EXPECT_EQ(draw(small_figure(), folder.path()), "");
  for (const char* name : {"small.svg", "small.png"}) {
    ASSERT_TRUE(std::filesystem::exists(folder.path() / name)) << name;
    EXPECT_GT(std::filesystem::file_size(folder.path() / name), 2000u) << name;
  }
  // What is drawn says so in words, too: the key of the SVG.
  std::stringstream svg;
  svg << std::ifstream(folder.path() / "small.svg").rdbuf();
  EXPECT_THAT(svg.str(), HasSubstr("Homa (published)"));
}

TEST(Figure, SizesAreShortOnAxes) {
  EXPECT_EQ(short_bytes(2), "2");
  EXPECT_EQ(short_bytes(999), "999");
  EXPECT_EQ(short_bytes(1442), "1.4 k");
  EXPECT_EQ(short_bytes(24995), "25 k");
  EXPECT_EQ(short_bytes(999600), "1.0 M");
  EXPECT_EQ(short_bytes(28840000), "29 M");
}

TEST(Figure, TicksAreTheSizesAtEachTenthOfMessages) {
  const auto ticks = size_ticks("w5");
  ASSERT_EQ(ticks.size(), 10u);
  EXPECT_DOUBLE_EQ(ticks[4].position, 0.5);
  EXPECT_EQ(ticks[9].label, "29 M");
}

TEST(SlowdownFigure, OverlaysWhatWasPublishedForThatLoadOnly) {
  Point point{{}, {result_with(1, {1, 2, 3})}};
  const Published published = Published::load();
  const Figure known = slowdown_figure("f", "t", {&point}, {"ours"}, published);  // w4 at 0.8
  ASSERT_EQ(known.panels.size(), 2u);
  EXPECT_EQ(known.panels[0].curves.size(), 6u);  // NDP was published for W5 only
  point.spec.load = 0.7;
  EXPECT_EQ(slowdown_figure("f", "t", {&point}, {"ours"}, published).panels[0].curves.size(), 1u);
  for (const Panel& panel : known.panels) {
    for (const Curve& curve : panel.curves) {
      for (std::size_t i = 1; i < curve.samples.size(); ++i) EXPECT_GT(curve.samples[i].x, curve.samples[i - 1].x);
    }
  }
}

TEST(Report, ChecksBindWhereTheyHaveBounds) {
  Report report;
  EXPECT_STREQ(report.check("a", 1.0, 0.9, 1.1), "met");
  EXPECT_STREQ(report.check("b", 2.0, {}, 1.1), "missed");
  EXPECT_STREQ(report.check("c", 0.0, 0.5, {}), "missed");
  EXPECT_STREQ(report.check("d", std::nan(""), 0.5, 2), "missed");
  EXPECT_FALSE(report.all_met());
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("1 of 4 targets met"));
  EXPECT_THAT(text, HasSubstr("missed: b is 2, should be at most 1.1"));
  EXPECT_THAT(text, HasSubstr("missed: c is 0, should be at least 0.5"));
  EXPECT_TRUE(checks_to_json(report)[1].at("low").is_null());
}

TEST(Report, TablesAreAligned) {
  EXPECT_EQ(to_text(Table{"T", {"a", "b"}, {{"long", "1"}, {"x", "22"}, {"y", ""}}}),
            "T\na      b\nlong   1\nx     22\ny\n");
}

TEST(Process, OutputAndExitCodesArrive) {
  const Ended ended = run_program({"sh", "-c", "echo one; echo two >&2; exit 3"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_EQ(ended.output, "one\ntwo\n");
  EXPECT_EQ(run_program({"/nonexistent/program"}).exit_code, Ended::kNotFound);
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}).exit_code, Ended::kKilled + 9);
}

TEST(Process, LongOutputIsKeptFromItsEnd) {
  const Ended ended = run_program({"sh", "-c", "seq 1 20000; echo last"});
  EXPECT_THAT(ended.output, ::testing::EndsWith("20000\nlast\n"));
  EXPECT_LT(ended.output.size(), 10000u);
}

}  // namespace
}  // namespace homa::tools::sim
