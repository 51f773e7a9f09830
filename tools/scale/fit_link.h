// Fits a link to measured all-reduces, given an algorithm's formula.
#ifndef TANDEM_TOOLS_SCALE_FIT_LINK_H_
#define TANDEM_TOOLS_SCALE_FIT_LINK_H_

#include <vector>

#include "tools/scale/interconnect.h"
#include "tools/scale/measured_times.h"

namespace tandem {

struct LinkFit {
  Link link;
  // Errors of the formula's times, relative to the measured ones: root mean square, and the greatest.
  double error = 0, greatest_error = 0;
};

// Minimises the squares of the relative errors over bandwidth, latency and the time of a message, none of them
// negative. The last matters only if processes send more than one message at a time. `rows` must not be empty.
LinkFit FitLink(Algorithm algorithm, const std::vector<MeasuredTime>& rows);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_FIT_LINK_H_
