// Reduces curves of any length to few numbers, for a picture that is some hundred pixels wide.
#ifndef TANDEM_TOOLS_PLOT_THIN_OUT_H_
#define TANDEM_TOOLS_PLOT_THIN_OUT_H_

#include <cstdint>
#include <vector>

#include "estimator/curves/runs.h"

namespace tandem {

// Summarises the points of several consecutive steps. The values are NaN if none of them is finite.
struct CurveColumn {
  int64_t step;  // a step near the middle
  double mean, least, most;
  bool operator==(const CurveColumn&) const = default;
};

// Returns one column for each point if there are at most `columns` points, otherwise at most `columns` columns that
// span equal numbers of steps. The least and the greatest value of each column are kept, so that no peak is lost.
// `points` must have ascending steps.
std::vector<CurveColumn> ThinOut(const std::vector<CurvePoint>& points, int columns);

}  // namespace tandem

#endif  // TANDEM_TOOLS_PLOT_THIN_OUT_H_
