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
  bool of_model = false;    // shows a loss or a metric
  bool logarithmic = true;  // logarithmic if the page is switched to logarithmic axes
  bool from_zero = false;   // the axis of values begins at 0, for rates and the like
  std::vector<ChartCurve> curves;
};

struct PlotCharts {
  std::vector<std::string> parts;  // parts of all runs: "" (the training) first if there is one, then evaluations
  // Losses, metrics, the learning rate, throughput, then all tags with scopes in their names.
  std::vector<Chart> charts;
  double first_step = 0, last_step = 0;  // range of the axis of steps, the same for all charts
};

PlotCharts MakeCharts(const std::vector<PlotRun>& runs);

}  // namespace tandem

#endif  // TANDEM_TOOLS_PLOT_CHARTS_H_
