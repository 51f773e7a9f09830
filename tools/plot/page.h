// Draws learning curves as one self-contained web page.
#ifndef TANDEM_TOOLS_PLOT_PAGE_H_
#define TANDEM_TOOLS_PLOT_PAGE_H_

#include <string>

#include "estimator/curves/runs.h"

namespace tandem {

// Returns a page that needs no network, and shows its curves even without scripts. Its script adds smoothing,
// logarithmic axes, values under the pointer, and hiding of runs. It sets data-ready="1" on the root element when
// everything is drawn, and data-errors to the number of errors in the script.
std::string CurvesPage(const PlotRuns& runs);

}  // namespace tandem

#endif  // TANDEM_TOOLS_PLOT_PAGE_H_
