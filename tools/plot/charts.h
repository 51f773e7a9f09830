// The charts of a page: which curves are drawn together, and in what order.
#ifndef TANDEM_TOOLS_PLOT_CHARTS_H_
#define TANDEM_TOOLS_PLOT_CHARTS_H_

#include <string>
#include <vector>

#include "tools/plot/runs.h"
#include "tools/plot/thin_out.h"

namespace tandem {

struct ChartCurve {
  int run;   // index of PlotRuns.runs
  int part;  // index of PlotCharts.parts
  std::vector<CurveColumn> columns;
};

// All curves of one tag.
struct Chart {
  std::string tag;
  bool of_model = false;    // a loss or a metric
  bool logarithmic = true;  // where the page is asked for it
  bool from_zero = false;   // the axis of values begins at 0, as for rates
  std::vector<ChartCurve> curves;
};

struct PlotCharts {
  std::vector<std::string> parts;  // of all runs: "" (the training) first where there is one, then evaluations
  // Losses, metrics, the learning rate, throughput, then all that is named by scopes.
  std::vector<Chart> charts;
  double first_step = 0, last_step = 0;  // the axis of steps, of all charts
};

PlotCharts MakeCharts(const std::vector<PlotRun>& runs);

}  // namespace tandem

#endif  // TANDEM_TOOLS_PLOT_CHARTS_H_
