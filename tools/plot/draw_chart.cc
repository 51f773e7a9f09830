#include "tools/plot/draw_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tandem {
namespace {

// The size of the picture in SVG units; page/curves.js has the same constants.
constexpr double kWidth = 640, kHeight = 300;
constexpr double kLeft = 58, kRight = 20, kTop = 10, kBottom = 28;
constexpr int kColours = 8, kForms = 4;
constexpr size_t kMaxMarks = 60;

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void Add(double value) {
    if (std::isnan(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Returns the range, or a wider one if it is empty or has only one value.
Range Drawable(Range range) {
  if (!(range.low <= range.high)) return {0, 1};
  if (range.low == range.high) {
    const double more = range.low == 0 ? 1 : std::abs(range.low) / 10;
    return {range.low - more, range.high + more};
  }
  return range;
}

Range ValuesOf(const Chart& chart) {
  Range range;
  if (chart.from_zero) range.Add(0);
  for (const ChartCurve& curve : chart.curves) {
    for (const CurveColumn& column : curve.columns) {
      range.Add(column.least);
      range.Add(column.most);
    }
  }
  range = Drawable(range);
  const double margin = 0.05 * (range.high - range.low);
  if (!(chart.from_zero && range.low == 0)) range.low -= margin;
  range.high += margin;
  return range;
}

// Rounds halves up, like the function `short` of page/curves.js, which draws the same chart in a browser.
std::string Coordinate(double value) {
  double tenths = std::floor(value * 10);
  if (value * 10 - tenths >= 0.5) ++tenths;
  std::string text = absl::StrFormat("%.1f", tenths / 10);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

// Returns the path that connects the means of a curve's columns (groups of consecutive steps). With `ranges`, the path
// has a vertical line from the least to the greatest value of each column. The path has a gap where no value is finite.
template <typename X, typename Y>
std::string LinePath(const std::vector<CurveColumn>& columns, bool ranges, const X& x, const Y& y) {
  std::string path;
  double last_x = 0, last_y = 0;
  bool broken = true;
  const auto to = [&](double px, double py) {
    // The coordinates are rounded to a tenth before their differences are printed, so that rounding errors do not
    // accumulate.
    px = std::round(px * 10) / 10;
    py = std::round(py * 10) / 10;
    if (broken) {
      absl::StrAppend(&path, "M", Coordinate(px), " ", Coordinate(py), "l0 0");  // "l0 0" makes a dot of a single point
    } else {
      absl::StrAppend(&path, "l", Coordinate(px - last_x), " ", Coordinate(py - last_y));
    }
    broken = false;
    last_x = px;
    last_y = py;
  };
  for (const CurveColumn& column : columns) {
    if (std::isnan(column.mean)) {
      broken = true;
      continue;
    }
    const double at = x(static_cast<double>(column.step));
    if (!ranges) {
      to(at, y(column.mean));
      continue;
    }
    // The vertical line of a column begins at the end that is nearer to the previous point.
    const double least = y(column.least), most = y(column.most);
    const bool up = broken || std::abs(least - last_y) <= std::abs(most - last_y);
    to(at, up ? least : most);
    if (column.least != column.most) to(at, up ? most : least);
  }
  return path;
}

bool HasRanges(const std::vector<CurveColumn>& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const CurveColumn& c) { return c.least < c.most; });
}

}  // namespace

Ticks RoundTicks(double low, double high, int count) {
  Ticks ticks;
  const double rough = (high - low) / count;
  if (!(rough > 0) || !std::isfinite(rough)) return ticks;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (step < rough) step = power * factor;
  }
  const double largest = std::max(std::abs(low), std::abs(high));
  const double unit = largest >= 1e9 || largest < 1e-3 ? 0 : largest >= 1e6 ? 1e6 : largest >= 1e4 ? 1e3 : 1;
  const char* suffix = unit == 1e6 ? "M" : unit == 1e3 ? "k" : "";
  const int decimals = unit == 0 ? 0 : std::max(0, -static_cast<int>(std::floor(std::log10(step / unit) + 1e-9)));
  for (double i = std::ceil(low / step); i * step <= high && ticks.values.size() < 100; ++i) {
    const double value = i * step;
    ticks.values.push_back(value);
    ticks.labels.push_back(value == 0  ? "0"
                           : unit == 0 ? absl::StrFormat("%.3g", value)
                                       : absl::StrFormat("%.*f%s", decimals, value / unit, suffix));
  }
  return ticks;
}

int ColourOf(const ChartCurve& curve, bool colour_by_run) {
  return (colour_by_run ? curve.run : curve.part) % kColours;
}

std::string Mark(int part, double x, double y) {
  const std::string at = absl::StrCat("M", Coordinate(x), " ", Coordinate(y));
  switch (part % kForms) {
    case 0:
      return absl::StrCat(at, "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0z");  // draws a disc
    case 1:
      return absl::StrCat(at, "m0-4l4 4l-4 4l-4-4z");  // draws a diamond
    case 2:
      return absl::StrCat(at, "m-3-3h6v6h-6z");  // draws a square
    default:
      return absl::StrCat(at, "m0-4l4 7h-8z");  // draws a triangle
  }
}

std::string DrawChart(const Chart& chart, const PlotCharts& charts, bool colour_by_run) {
  Range steps = Drawable({charts.first_step, charts.last_step});
  const Range values = ValuesOf(chart);
  const auto x = [&](double step) {
    return kLeft + (kWidth - kLeft - kRight) * (step - steps.low) / (steps.high - steps.low);
  };
  const auto y = [&](double value) {
    return kTop + (kHeight - kTop - kBottom) * (values.high - value) / (values.high - values.low);
  };
  std::string svg = absl::StrFormat("<svg viewBox=\"0 0 %g %g\" role=\"img\">", kWidth, kHeight);
  const Ticks across = RoundTicks(steps.low, steps.high, 6), up = RoundTicks(values.low, values.high, 7);
  for (size_t i = 0; i < up.values.size(); ++i) {
    const std::string at = Coordinate(y(up.values[i]));
    absl::StrAppend(&svg, "<path class=\"grid\" d=\"M", kLeft, " ", at, "H", kWidth - kRight, "\"/><text x=\"",
                    kLeft - 7, "\" y=\"", at, "\" dy=\"4\" text-anchor=\"end\">", up.labels[i], "</text>");
  }
  for (size_t i = 0; i < across.values.size(); ++i) {
    absl::StrAppend(&svg, "<text x=\"", Coordinate(x(across.values[i])), "\" y=\"", kHeight - 8,
                    "\" text-anchor=\"middle\">", across.labels[i], "</text>");
  }
  for (const ChartCurve& curve : chart.curves) {
    const std::string classes = absl::StrCat("c", ColourOf(curve, colour_by_run), " p", curve.part % kForms);
    if (HasRanges(curve.columns)) {
      absl::StrAppend(&svg, "<path class=\"line raw ", classes, "\" d=\"", LinePath(curve.columns, true, x, y), "\"/>");
    }
    absl::StrAppend(&svg, "<path class=\"line ", classes, "\" d=\"", LinePath(curve.columns, false, x, y), "\"/>");
    // Evaluations are few, so each of their points gets a mark.
    if (curve.part == 0 || curve.columns.size() > kMaxMarks) continue;
    std::string marks;
    for (const CurveColumn& column : curve.columns) {
      if (!std::isnan(column.mean)) marks += Mark(curve.part, x(static_cast<double>(column.step)), y(column.mean));
    }
    absl::StrAppend(&svg, "<path class=\"mark ", classes, "\" d=\"", marks, "\"/>");
  }
  return svg + "</svg>";
}

}  // namespace tandem
