#include "tools/plot/page.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/json_string.h"
#include "base/printable.h"
#include "tools/plot/charts.h"
#include "tools/plot/curves_files.h"
#include "tools/plot/draw_chart.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxColumns = 8;  // columns of values in the table of runs

std::string Escape(absl::string_view text) {
  return absl::StrReplaceAll(PrintableLine(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string Number(double value) { return std::isnan(value) ? "\u2013" : absl::StrFormat("%.4g", value); }

Json JsonNumber(double value) { return std::isnan(value) ? Json(nullptr) : Json(value); }

std::string PartName(const std::string& part) { return part.empty() ? "training" : part; }

Json CurveJson(const ChartCurve& curve, bool colour_by_run) {
  Json steps = Json::array(), means = Json::array(), least = Json::array(), most = Json::array();
  bool ranges = false;
  for (const CurveColumn& column : curve.columns) {
    steps.push_back(column.step);
    means.push_back(JsonNumber(column.mean));
    least.push_back(JsonNumber(column.least));
    most.push_back(JsonNumber(column.most));
    ranges = ranges || column.least < column.most;
  }
  Json json = {{"run", curve.run},
               {"part", curve.part},
               {"colour", ColourOf(curve, colour_by_run)},
               {"x", std::move(steps)},
               {"y", std::move(means)}};
  if (ranges) {
    json["low"] = std::move(least);
    json["high"] = std::move(most);
  }
  return json;
}

Json DataJson(const PlotRuns& runs, const PlotCharts& charts, bool colour_by_run) {
  Json names = Json::array(), parts = Json::array(), list = Json::array();
  for (const PlotRun& run : runs.runs) names.push_back(run.name);
  for (const std::string& part : charts.parts) parts.push_back(PartName(part));
  for (const Chart& chart : charts.charts) {
    Json curves = Json::array();
    for (const ChartCurve& curve : chart.curves) curves.push_back(CurveJson(curve, colour_by_run));
    list.push_back({{"tag", chart.tag},
                    {"logarithmic", chart.logarithmic},
                    {"fromZero", chart.from_zero},
                    {"curves", std::move(curves)}});
  }
  return {{"runs", std::move(names)}, {"parts", std::move(parts)}, {"charts", std::move(list)}};
}

// Returns one entry of the legend: a sample line drawn as in the charts, and a name. The page's script makes the entry
// a switch.
std::string LegendEntry(absl::string_view kind, size_t index, const std::string& classes, int form,
                        const std::string& name) {
  return absl::StrCat(
      "<label><input type=\"checkbox\" checked data-", kind, "=\"", index,
      "\"><svg class=\"sample\" viewBox=\"0 0 30 12\"><path class=\"line ", classes, "\" d=\"M1 6H29\"/>",
      form > 0 ? absl::StrCat("<path class=\"mark ", classes, "\" d=\"", Mark(form, 15, 6), "\"/>") : "", "</svg>",
      Escape(name), "</label>");
}

std::string Legend(const PlotRuns& runs, const PlotCharts& charts, bool colour_by_run) {
  std::string legend;
  for (size_t r = 0; colour_by_run && r < runs.runs.size(); ++r) {
    const ChartCurve curve{.run = static_cast<int>(r), .part = 0};
    legend += LegendEntry("run", r, absl::StrCat("c", ColourOf(curve, true), " p0"), 0, runs.runs[r].name);
  }
  if (colour_by_run && charts.parts.size() > 1) legend += "<span class=\"divider\"></span>";
  for (size_t p = 0; (!colour_by_run || charts.parts.size() > 1) && p < charts.parts.size(); ++p) {
    const ChartCurve curve{.run = 0, .part = static_cast<int>(p)};
    legend += LegendEntry(
        "part", p,
        absl::StrCat(colour_by_run ? std::string("plain") : absl::StrCat("c", ColourOf(curve, false)), " p", p % 4),
        static_cast<int>(p), PartName(charts.parts[p]));
  }
  return legend;
}

std::string ChartFigure(const Chart& chart, size_t index, const PlotCharts& charts, bool colour_by_run) {
  std::string values;
  for (const ChartCurve& curve : chart.curves) {
    // If colours stand for runs, there are too many values for the caption; the table lists them.
    if (colour_by_run) break;
    absl::StrAppend(&values, "<span class=\"value c", ColourOf(curve, false), "\">", Number(curve.columns.back().mean),
                    "</span>");
  }
  return absl::StrCat("<figure data-chart=\"", index, "\"><figcaption><b>", Escape(chart.tag), "</b>", values,
                      "</figcaption>", DrawChart(chart, charts, colour_by_run), "</figure>\n");
}

std::string Figures(const PlotCharts& charts, bool colour_by_run) {
  std::string html;
  for (size_t i = 0; i < charts.charts.size(); ++i) html += ChartFigure(charts.charts[i], i, charts, colour_by_run);
  return html;
}

// Returns a table with a row for each run, which shows the last value of every loss and metric.
std::string Table(const PlotRuns& runs, const PlotCharts& charts) {
  struct Column {
    std::string title, part, tag;
  };
  std::vector<Column> columns;
  for (const Chart& chart : charts.charts) {
    if (!chart.of_model) continue;
    for (const std::string& part : charts.parts) {
      const bool there = std::any_of(chart.curves.begin(), chart.curves.end(),
                                     [&](const ChartCurve& curve) { return charts.parts[curve.part] == part; });
      if (there && columns.size() < kMaxColumns) {
        columns.push_back({absl::StrCat(PartName(part), " ", chart.tag), part, chart.tag});
      }
    }
  }
  std::string html = "<table><thead><tr><th>run</th><th class=\"n\">last step</th>";
  for (const Column& column : columns) absl::StrAppend(&html, "<th class=\"n\">", Escape(column.title), "</th>");
  absl::StrAppend(&html, "</tr></thead><tbody>\n");
  for (const PlotRun& run : runs.runs) {
    int64_t last_step = 0;
    for (const auto& [part, curves] : run.parts) {
      for (const auto& [tag, points] : curves) last_step = std::max(last_step, points.back().step);
    }
    absl::StrAppend(&html, "<tr><td>", Escape(run.name), "</td><td class=\"n\">", last_step, "</td>");
    for (const Column& column : columns) {
      const auto part = run.parts.find(column.part);
      const auto curve = part == run.parts.end() ? Curves::const_iterator() : part->second.find(column.tag);
      const bool there = part != run.parts.end() && curve != part->second.end();
      absl::StrAppend(&html, "<td class=\"n\">", there ? Number(curve->second.back().value) : "\u2013", "</td>");
    }
    absl::StrAppend(&html, "</tr>\n");
  }
  return html + "</tbody></table>\n";
}

std::string Notes(const PlotRuns& runs) {
  if (runs.damaged.empty()) return "";
  return absl::StrCat("<h2>What could not be read</h2>\n<ul class=\"damaged\">",
                      absl::StrJoin(runs.damaged, "",
                                    [](std::string* out, const absl::Status& status) {
                                      absl::StrAppend(out, "<li>", Escape(status.message()), "</li>\n");
                                    }),
                      "</ul>\n");
}

}  // namespace

std::string CurvesPage(const PlotRuns& runs) {
  const PlotCharts charts = MakeCharts(runs.runs);
  const bool colour_by_run = runs.runs.size() > 1;
  const std::string data = JsonString(DataJson(runs, charts, colour_by_run));
  // All placeholders are replaced in one pass, because names may contain their text. "<" is escaped, because
  // "</script>" in the data would end the element, and "<!--" would change how it is parsed.
  return absl::StrReplaceAll(
      kCurvesHtml,
      {{"@TITLE@", Escape(colour_by_run ? absl::StrCat(runs.runs.size(), " runs") : runs.runs.front().name)},
       {"@STYLE@", kCurvesCss},
       {"@SCRIPT@", kCurvesJs},
       {"@LEGEND@", Legend(runs, charts, colour_by_run)},
       {"@CHARTS@", Figures(charts, colour_by_run)},
       {"@TABLE@", Table(runs, charts)},
       {"@NOTES@", Notes(runs)},
       {"@DATA@", absl::StrReplaceAll(data, {{"<", "\\u003c"}})}});
}

}  // namespace tandem
