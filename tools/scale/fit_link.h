// The link that measured all-reduces would have taken by an algorithm's formula.
#ifndef TANDEM_TOOLS_SCALE_FIT_LINK_H_
#define TANDEM_TOOLS_SCALE_FIT_LINK_H_

#include <vector>

#include "tools/scale/interconnect.h"
#include "tools/scale/measured_times.h"

namespace tandem {

struct LinkFit {
  Link link;
  // Of the formula's times, relative to the measured ones: root of the mean square, and the greatest.
  double error = 0, greatest_error = 0;
};

// Least squares of the relative errors over bandwidth, latency and the time of a message, none of them negative. The
// last counts only where processes send more than one message at a time. `rows` must not be empty.
LinkFit FitLink(Algorithm algorithm, const std::vector<MeasuredTime>& rows);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_FIT_LINK_H_
