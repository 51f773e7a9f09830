// Finds the sizes at which the fastest way of an all-reduce changes.
#ifndef TANDEM_TOOLS_SCALE_CROSSOVERS_H_
#define TANDEM_TOOLS_SCALE_CROSSOVERS_H_

#include <vector>

#include "tools/scale/interconnect.h"

namespace tandem {

struct Stretch {
  double from = 0;  // bytes
  Way way = Way::kOneHop;
};

// Returns the fastest way by rising size, from 1 byte to 1 TiB, for `processes` > 1 with a link each. Of equally fast
// ways the first in kWays. A stretch that is shorter than a 16th of an octave may be missing.
std::vector<Stretch> Crossovers(const Link& link, int processes);

// Returns the size from which on `second` is faster than `first`; 0 if it is from 1 byte on, infinity if it is not up
// to 1 TiB. For two ways of which one is faster below some size, and the other above it.
double Crossover(Way first, Way second, const Link& link, int processes);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_CROSSOVERS_H_
