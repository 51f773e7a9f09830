// Draws a chart as SVG, for browsers without scripts; page/curves.js draws the same and more.
#ifndef TANDEM_TOOLS_PLOT_DRAW_CHART_H_
#define TANDEM_TOOLS_PLOT_DRAW_CHART_H_

#include <string>
#include <vector>

#include "tools/plot/charts.h"

namespace tandem {

// Round numbers from `low` to `high`, about `count` of them, and their labels: "0.25", "20k".
struct Ticks {
  std::vector<double> values;
  std::vector<std::string> labels;
};
Ticks RoundTicks(double low, double high, int count);

// Returns an <svg> element. `charts` has the range of the axis of steps. Each curve has two CSS classes: c0 to c7 for
// its colour, which depends on the run if `colour_by_run` and otherwise on the part (the training or an evaluation);
// and p0 to p3 for the form of lines and marks, which depends on the part.
std::string DrawChart(const Chart& chart, const PlotCharts& charts, bool colour_by_run);

// Returns the number of a curve's colour class.
int ColourOf(const ChartCurve& curve, bool colour_by_run);

// Returns the SVG path of the mark at the point (x, y). Its form depends on the curve's part (training or evaluation).
std::string Mark(int part, double x, double y);

}  // namespace tandem

#endif  // TANDEM_TOOLS_PLOT_DRAW_CHART_H_
