// From which size on which way of an all-reduce is the shortest.
#ifndef TANDEM_TOOLS_SCALE_CROSSOVERS_H_
#define TANDEM_TOOLS_SCALE_CROSSOVERS_H_

#include <vector>

#include "tools/scale/interconnect.h"

namespace tandem {

struct Stretch {
  double from = 0;  // bytes
  Way way = Way::kOneHop;
};

// The shortest way of all for `processes` > 1 that have a link each, by rising size from 1 byte to 1 TiB. Of equal ones
// the first of kWays. A stretch that is shorter than a 16th of an octave may be missing.
std::vector<Stretch> Crossovers(const Link& link, int processes);

// The size from which on `second` is shorter than `first`; 0 where it is from 1 byte on, infinity where it never is up
// to 1 TiB. For two ways of which one is shorter below a size, and the other above it.
double Crossover(Way first, Way second, const Link& link, int processes);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_CROSSOVERS_H_
