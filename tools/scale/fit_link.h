// Fits the properties of a link to measured times of all-reduces, with an algorithm's formula.
#ifndef TANDEM_TOOLS_SCALE_FIT_LINK_H_
#define TANDEM_TOOLS_SCALE_FIT_LINK_H_

#include <vector>

#include "tools/scale/interconnect.h"
#include "tools/scale/measured_times.h"

namespace tandem {

struct LinkFit {
  Link link;
  // Errors of the fitted times, relative to the measured ones: the root mean square, and the greatest.
  double error = 0, greatest_error = 0;
};

// Finds the bandwidth, latency and time of a message, none of them negative, for which the sum of squares of the
// relative errors is least. The time of a message matters only if processes send more than one message at a time.
// `rows` must not be empty.
LinkFit FitLink(Algorithm algorithm, const std::vector<MeasuredTime>& rows);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_FIT_LINK_H_
