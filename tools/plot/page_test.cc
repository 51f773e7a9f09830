// The page's parts; tests/plot looks at the page in a browser.
#include "tools/plot/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tools/plot/charts.h"
#include "tools/plot/draw_chart.h"
#include "tools/plot/thin_out.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ThinOutTest, KeepsShortCurves) {
  EXPECT_THAT(ThinOut({{1, 5}, {9, 7}}, 2), ElementsAre(CurveColumn{1, 5, 5, 5}, CurveColumn{9, 7, 7, 7}));
  EXPECT_TRUE(ThinOut({}, 2).empty());
}

TEST(ThinOutTest, HasMeanAndExtremesOfEachColumn) {
  // Steps 0 to 9 in two columns: 0 to 4, and 5 to 9.
  std::vector<CurvePoint> points;
  for (int i = 0; i < 10; ++i) points.push_back({i, i == 7 ? 100.0 : i});
  EXPECT_THAT(ThinOut(points, 2), ElementsAre(CurveColumn{2, 2, 0, 4}, CurveColumn{7, 25.6, 5, 100}));
}

TEST(ThinOutTest, LosesNoPeakOfALongCurve) {
  std::vector<CurvePoint> points;
  for (int64_t i = 0; i < 100000; ++i) points.push_back({1 + 10 * i, i == 77777 ? 9.0 : i == 33333 ? -9.0 : 1.0});
  const std::vector<CurveColumn> thin = ThinOut(points, 600);
  EXPECT_EQ(thin.size(), 600u);
  double least = 0, most = 0;
  for (size_t i = 0; i < thin.size(); ++i) {
    least = std::min(least, thin[i].least);
    most = std::max(most, thin[i].most);
    EXPECT_TRUE(i == 0 || thin[i].step > thin[i - 1].step) << i;
  }
  EXPECT_EQ(least, -9);
  EXPECT_EQ(most, 9);
}

TEST(ThinOutTest, LeavesOutWhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<CurveColumn> one = ThinOut({{0, kNan}, {1, infinity}, {2, 3}, {3, 5}}, 1);
  EXPECT_THAT(one, ElementsAre(CurveColumn{1, 4, 3, 5}));
  EXPECT_TRUE(std::isnan(ThinOut({{0, infinity}}, 1)[0].mean));
}

TEST(RoundTicksTest, AreRoundNumbersWithinTheRange) {
  EXPECT_THAT(RoundTicks(0.1, 1.05, 5).labels, ElementsAre("0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(RoundTicks(0, 100000, 5).labels, ElementsAre("0", "20k", "40k", "60k", "80k", "100k"));
  EXPECT_THAT(RoundTicks(-3e6, 3e6, 6).labels, ElementsAre("-3M", "-2M", "-1M", "0", "1M", "2M", "3M"));
  EXPECT_THAT(RoundTicks(0, 2e-5, 2).labels, ElementsAre("0", "1e-05", "2e-05"));
  EXPECT_TRUE(RoundTicks(1, 1, 5).values.empty());
}

PlotRun SomeRun(const std::string& name) {
  return {
      .name = name,
      .parts = {{"", {{"loss", {{0, 4}, {50, 2}, {100, 0}}}, {"examples/sec", {{100, 900}}}, {"g/norm", {{100, 1}}}}},
                {"eval", {{"accuracy", {{100, 0.5}}}, {"loss", {{100, 1}}}}}}};
}

TEST(MakeChartsTest, PutsTheCurvesOfATagTogether) {
  const PlotCharts charts = MakeCharts({SomeRun("a"), SomeRun("b")});
  EXPECT_THAT(charts.parts, ElementsAre("", "eval"));
  std::vector<std::string> tags;
  for (const Chart& chart : charts.charts) tags.push_back(chart.tag);
  EXPECT_THAT(tags, ElementsAre("loss", "accuracy", "examples/sec", "g/norm"));
  EXPECT_EQ(charts.charts[0].curves.size(), 4u);
  EXPECT_EQ(charts.charts[1].curves.size(), 2u);
  EXPECT_FALSE(charts.charts[0].from_zero);
  EXPECT_TRUE(charts.charts[2].from_zero);
  EXPECT_EQ(charts.first_step, 0);
  EXPECT_EQ(charts.last_step, 100);
}

TEST(DrawChartTest, DrawsPointsWhereTheyBelong) {
  const PlotCharts charts = MakeCharts({SomeRun("a")});
  const std::string svg = DrawChart(charts.charts[0], charts, false);
  // From (58, 10) to (620, 272), with a margin of a twentieth above and below 0 to 4: 262 / 1.1 for 4 units.
  EXPECT_THAT(svg, HasSubstr("d=\"M58 21.9l0 0l281 119.1l281 119.1\""));
  EXPECT_THAT(svg, HasSubstr("class=\"mark c1 p1\" d=\"M620 200.5m"));
}

TEST(DrawChartTest, BreaksALineWhereAValueIsNotFinite) {
  PlotRun run{.name = "a", .parts = {{"", {{"loss", {{0, 1}, {1, kNan}, {2, 1}, {3, 2}}}}}}};
  const PlotCharts charts = MakeCharts({run});
  const std::string svg = DrawChart(charts.charts[0], charts, false);
  EXPECT_THAT(svg, testing::ContainsRegex("d=\"M[0-9. ]+l0 0M[0-9. ]+l0 0l[-0-9. ]+\""));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(CurvesPageTest, EscapesNames) {
  PlotRun run = SomeRun("</script><b>&\"@DATA@\xff");
  run.parts[""]["</script>\n<img>"] = {{1, 1}};
  const std::string page = CurvesPage({.runs = {run}});
  EXPECT_THAT(page, Not(HasSubstr("<img>")));
  EXPECT_THAT(page, Not(HasSubstr("</script><b>")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;b&gt;&amp;&quot;@DATA@"));
}

TEST(CurvesPageTest, NamesDamage) {
  const PlotRuns runs{.runs = {SomeRun("a")}, .damaged = {absl::DataLossError("file <1>: at byte 7")}};
  EXPECT_THAT(CurvesPage(runs), HasSubstr("<li>file &lt;1&gt;: at byte 7</li>"));
  EXPECT_THAT(CurvesPage({.runs = {SomeRun("a")}}), Not(HasSubstr("could not be read")));
}

TEST(CurvesPageTest, IsSmallForALongRun) {
  PlotRun run{.name = "a"};
  for (const char* tag : {"loss", "accuracy", "learning_rate", "examples/sec", "global_step/sec", "input_wait"}) {
    std::vector<CurvePoint>& points = run.parts[""][tag];
    for (int64_t i = 0; i < 100000; ++i) points.push_back({i, 1 / (1.0 + static_cast<double>(i * 7919 % 10007))});
  }
  EXPECT_LT(CurvesPage({.runs = {run}}).size(), 300u << 10);
}

}  // namespace
}  // namespace tandem
