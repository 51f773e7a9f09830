#include "tools/plot/charts.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace tandem {
namespace {

constexpr int kColumns = 600;

enum Place { kLoss, kOtherLoss, kMetric, kLearningRate, kThroughput, kScoped };

// Returns where on the page the chart of this tag belongs. Knows the tags that estimator/summary/summary_saver_hook.h
// and evaluations write, and other usual tags.
Place PlaceOf(absl::string_view tag) {
  if (tag == "loss") return kLoss;
  if (tag == "learning_rate" || tag == "lr") return kLearningRate;
  if (tag == "examples/sec" || tag == "global_step/sec" || tag == "input_wait") return kThroughput;
  if (absl::StrContains(tag, "/")) return kScoped;  // a user's tag with a scope, such as "gradients/norm"
  return absl::EndsWith(tag, "loss") ? kOtherLoss : kMetric;
}

// Rounds to six digits, which is enough for a picture.
double Rounded(double value) {
  double rounded = 0;
  return absl::SimpleAtod(absl::StrFormat("%.6g", value), &rounded) ? rounded : value;
}

// The values are rounded here, so that the SVG and the page's script, which draws the chart again, use the same
// numbers.
std::vector<CurveColumn> ColumnsOf(const std::vector<CurvePoint>& points) {
  std::vector<CurveColumn> columns = ThinOut(points, kColumns);
  for (CurveColumn& column : columns) {
    column.mean = Rounded(column.mean);
    column.least = Rounded(column.least);
    column.most = Rounded(column.most);
  }
  return columns;
}

}  // namespace

PlotCharts MakeCharts(const std::vector<PlotRun>& runs) {
  PlotCharts result;
  std::set<std::string> parts;
  for (const PlotRun& run : runs) {
    for (const auto& [part, curves] : run.parts) parts.insert(part);
  }
  result.parts.assign(parts.begin(), parts.end());
  result.first_step = std::numeric_limits<double>::infinity();
  result.last_step = -result.first_step;
  std::map<std::string, std::vector<ChartCurve>> by_tag;
  for (size_t r = 0; r < runs.size(); ++r) {
    for (const auto& [part, curves] : runs[r].parts) {
      const auto p = std::distance(parts.begin(), parts.find(part));
      for (const auto& [tag, points] : curves) {
        by_tag[tag].push_back({static_cast<int>(r), static_cast<int>(p), ColumnsOf(points)});
        result.first_step = std::min(result.first_step, static_cast<double>(points.front().step));
        result.last_step = std::max(result.last_step, static_cast<double>(points.back().step));
      }
    }
  }
  // If the first step is not far from 0, the axis begins at 0, which is easier to read.
  if (result.first_step > 0 && result.first_step <= 0.1 * result.last_step) result.first_step = 0;
  std::map<std::pair<Place, std::string>, Chart> ordered;
  for (auto& [tag, curves] : by_tag) {
    const Place place = PlaceOf(tag);
    ordered[{place, tag}] = {.tag = tag,
                             .of_model = place <= kMetric,
                             .logarithmic = place != kThroughput,
                             .from_zero = place == kLearningRate || place == kThroughput,
                             .curves = std::move(curves)};
  }
  for (auto& [key, chart] : ordered) result.charts.push_back(std::move(chart));
  return result;
}

}  // namespace tandem
