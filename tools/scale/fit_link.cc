#include "tools/scale/fit_link.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tandem {
namespace {

// One measurement: the coefficients of the unknowns in its cost, each divided by the measured seconds.
using Row = std::array<double, 3>;
constexpr int kUnknowns = 3;  // the unknowns are seconds per byte, latency, and seconds per message

// Returns the least squares solution of rows * x = 1 (predicted time = measured time), where only the unknowns whose
// flag in `used` is set may differ from 0. nullopt if the solution is not unique.
std::optional<Row> Solve(const std::vector<Row>& rows, const std::array<bool, kUnknowns>& used) {
  Row scale = {};
  for (const Row& row : rows) {
    for (int i = 0; i < kUnknowns; ++i) scale[i] += row[i] * row[i];
  }
  // The normal equations, with columns scaled to length 1. An unknown that is not used gets the equation x = 0.
  double a[kUnknowns][kUnknowns + 1] = {};
  for (int i = 0; i < kUnknowns; ++i) {
    scale[i] = std::sqrt(scale[i]);
    if (!used[i]) a[i][i] = 1;
    if (used[i] && scale[i] == 0) return std::nullopt;
  }
  for (const Row& row : rows) {
    for (int i = 0; i < kUnknowns; ++i) {
      if (!used[i]) continue;
      for (int k = 0; k < kUnknowns; ++k) {
        if (used[k]) a[i][k] += row[i] / scale[i] * row[k] / scale[k];
      }
      a[i][kUnknowns] += row[i] / scale[i];
    }
  }
  for (int i = 0; i < kUnknowns; ++i) {
    int pivot = i;
    for (int k = i + 1; k < kUnknowns; ++k) {
      if (std::abs(a[k][i]) > std::abs(a[pivot][i])) pivot = k;
    }
    if (std::abs(a[pivot][i]) < 1e-9) return std::nullopt;
    std::swap(a[i], a[pivot]);
    for (int k = 0; k < kUnknowns; ++k) {
      if (k == i) continue;
      const double factor = a[k][i] / a[i][i];
      for (int j = i; j <= kUnknowns; ++j) a[k][j] -= factor * a[i][j];
    }
  }
  Row x = {};
  for (int i = 0; i < kUnknowns; ++i) x[i] = used[i] ? a[i][kUnknowns] / a[i][i] / scale[i] : 0;
  return x;
}

double SquaredErrors(const std::vector<Row>& rows, const Row& x) {
  double sum = 0;
  for (const Row& row : rows) {
    const double error = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] - 1;
    sum += error * error;
  }
  return sum;
}

// Returns the best link with unknowns that are not negative. As there are few unknowns, each set of unknowns that may
// differ from 0 is tried. The algorithm chooses its way for each measurement by the properties of the link `before`.
Link FitOnce(Algorithm algorithm, const std::vector<MeasuredTime>& measured, const Link& before) {
  std::vector<Row> rows;
  for (const MeasuredTime& m : measured) {
    const Cost cost = CostOf(WayOf(algorithm, m.bytes, m.processes, before), m.bytes, m.processes);
    rows.push_back({cost.bytes / m.seconds, cost.latencies / m.seconds, cost.messages / m.seconds});
  }
  Row best = {};
  double least = std::numeric_limits<double>::infinity();
  for (int set = 0; set < 4; ++set) {
    const std::optional<Row> x = Solve(rows, {true, (set & 1) != 0, (set & 2) != 0});
    if (!x.has_value() || (*x)[0] <= 0 || (*x)[1] < 0 || (*x)[2] < 0) continue;
    const double errors = SquaredErrors(rows, *x);
    // A set with more unknowns must reduce the errors noticeably, because rounding alone changes the errors of an exact
    // solution.
    if (errors < least - 1e-15 * static_cast<double>(rows.size())) {
      least = errors;
      best = *x;
    }
  }
  return {1 / best[0], best[1], best[2]};
}

}  // namespace

LinkFit FitLink(Algorithm algorithm, const std::vector<MeasuredTime>& rows) {
  LinkFit fit;
  fit.link = {1e9, 10e-6, 0};
  // The algorithm "halving" chooses between two ways by the link's properties, so a better fit may change the choice,
  // and the fit is repeated.
  constexpr int kRounds = 8;
  for (int i = 0; i < kRounds; ++i) fit.link = FitOnce(algorithm, rows, fit.link);
  double sum = 0;
  for (const MeasuredTime& m : rows) {
    const double error = std::abs(SecondsBetween(algorithm, m.bytes, m.processes, fit.link) / m.seconds - 1);
    sum += error * error;
    fit.greatest_error = std::max(fit.greatest_error, error);
  }
  fit.error = std::sqrt(sum / static_cast<double>(rows.size()));
  return fit;
}

}  // namespace tandem
