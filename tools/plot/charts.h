// Decides which curves are drawn together in a chart, and in what order a page shows the charts.
#ifndef TANDEM_TOOLS_PLOT_CHARTS_H_
#define TANDEM_TOOLS_PLOT_CHARTS_H_

#include <string>
#include <vector>

#include "estimator/curves/runs.h"
#include "tools/plot/thin_out.h"

namespace tandem {

struct ChartCurve {
  int run;   // index of PlotRuns.runs
  int part;  // index of PlotCharts.parts: the training or an evaluation
  std::vector<CurveColumn> columns;
};

// All curves of one tag.
struct Chart {
  std::string tag;
  bool of_model = false;    // true if the tag is a loss or a metric
  bool logarithmic = true;  // true if the page's switch to logarithmic axes applies to this chart
  bool from_zero = false;   // true if the axis of values begins at 0, as for rates
  std::vector<ChartCurve> curves;
};

struct PlotCharts {
  // The parts that any run has: "", the training, comes first if there is one, then the evaluations.
  std::vector<std::string> parts;
  // The charts in this order: losses, metrics, the learning rate, throughput, then all tags with a scope in their
  // names.
  std::vector<Chart> charts;
  double first_step = 0, last_step = 0;  // range of the axis of steps, the same for all charts
};

PlotCharts MakeCharts(const std::vector<PlotRun>& runs);

}  // namespace tandem

#endif  // TANDEM_TOOLS_PLOT_CHARTS_H_
