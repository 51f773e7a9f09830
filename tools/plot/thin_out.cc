#include "tools/plot/thin_out.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tandem {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Values are clipped to this limit so that their differences and sums stay finite. Values of event files are floats,
// and smaller.
constexpr double kLargest = 1e300;

CurveColumn ToColumn(const CurvePoint* begin, const CurvePoint* end) {
  CurveColumn column{.step = begin[(end - begin - 1) / 2].step, .mean = kNan, .least = kNan, .most = kNan};
  int64_t count = 0;
  for (const CurvePoint* point = begin; point != end; ++point) {
    const double value = point->value;
    if (!(std::abs(value) <= kLargest)) continue;
    if (count++ == 0) column.mean = column.least = column.most = value;
    column.least = std::min(column.least, value);
    column.most = std::max(column.most, value);
    column.mean += (value - column.mean) / static_cast<double>(count);
  }
  return column;
}

}  // namespace

std::vector<CurveColumn> ThinOut(const std::vector<CurvePoint>& points, int columns) {
  std::vector<CurveColumn> thin;
  if (points.empty()) return thin;
  const bool all = points.size() <= static_cast<size_t>(columns);
  const auto first = static_cast<double>(points.front().step), last = static_cast<double>(points.back().step);
  const auto column_of = [&](const CurvePoint& point) {
    const double part = (static_cast<double>(point.step) - first) / (last - first);
    return std::min(columns - 1, static_cast<int>(part * columns));
  };
  const CurvePoint* const end = points.data() + points.size();
  for (const CurvePoint* begin = points.data(); begin != end;) {
    const CurvePoint* next = begin + 1;
    while (!all && next != end && column_of(*next) == column_of(*begin)) ++next;
    thin.push_back(ToColumn(begin, next));
    begin = next;
  }
  return thin;
}

}  // namespace tandem
