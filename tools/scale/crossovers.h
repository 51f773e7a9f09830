// Finds the message sizes at which the fastest way to do an all-reduce changes.
#ifndef TANDEM_TOOLS_SCALE_CROSSOVERS_H_
#define TANDEM_TOOLS_SCALE_CROSSOVERS_H_

#include <vector>

#include "tools/scale/interconnect.h"

namespace tandem {

struct Stretch {
  double from = 0;  // the size in bytes at which the stretch begins
  Way way = Way::kOneHop;
};

// Returns the fastest way for each stretch of sizes from 1 byte to 1 TiB, in rising order, for `processes` > 1
// processes with a link each. Among equally fast ways the first in kWays counts. A stretch that is shorter than a 16th
// of an octave may be missing.
std::vector<Stretch> Crossovers(const Link& link, int processes);

// Returns the size from which on `second` is faster than `first`. The result is 0 if this is so from 1 byte on, and
// infinity if it is not so up to 1 TiB. The two must be such that one is faster below some size, and the other above
// it.
double Crossover(Way first, Way second, const Link& link, int processes);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_CROSSOVERS_H_
