// A chart as SVG, for browsers without scripts; page/curves.js draws the same and more.
#ifndef TANDEM_TOOLS_PLOT_DRAW_CHART_H_
#define TANDEM_TOOLS_PLOT_DRAW_CHART_H_

#include <string>
#include <vector>

#include "tools/plot/charts.h"

namespace tandem {

// Round numbers from `low` to `high`, about `count` of them, and what stands beside each: "0.25", "20k".
struct Ticks {
  std::vector<double> values;
  std::vector<std::string> labels;
};
Ticks RoundTicks(double low, double high, int count);

// An element <svg>. `charts` gives the axis of steps, `colour_by_run` the classes c0 to c7 of curves: by run, or by
// part; p0 to p3, the form of lines and marks, is always by part.
std::string DrawChart(const Chart& chart, const PlotCharts& charts, bool colour_by_run);

// The class of a curve's colour.
int ColourOf(const ChartCurve& curve, bool colour_by_run);

// A point of a curve, as a path.
std::string Mark(int part, double x, double y);

}  // namespace tandem

#endif  // TANDEM_TOOLS_PLOT_DRAW_CHART_H_
