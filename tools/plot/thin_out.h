// Reduces curves of any length to few numbers, for a picture that is some hundred pixels wide.
#ifndef TANDEM_TOOLS_PLOT_THIN_OUT_H_
#define TANDEM_TOOLS_PLOT_THIN_OUT_H_

#include <cstdint>
#include <vector>

#include "tools/plot/runs.h"

namespace tandem {

// The points of several consecutive steps. NaN if no value is finite.
struct CurveColumn {
  int64_t step;  // about the middle of the steps
  double mean, least, most;
  bool operator==(const CurveColumn&) const = default;
};

// Returns a column per point if there are at most `columns` points, otherwise at most `columns` columns of equal width;
// no peak is lost. `points` must have ascending steps.
std::vector<CurveColumn> ThinOut(const std::vector<CurvePoint>& points, int columns);

}  // namespace tandem

#endif  // TANDEM_TOOLS_PLOT_THIN_OUT_H_
