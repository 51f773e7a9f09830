#include "tools/scale/crossovers.h"

#include <cmath>
#include <limits>

#include "absl/functional/function_ref.h"

namespace tandem {
namespace {

constexpr double kLargest = 1024.0 * 1024 * 1024 * 1024;
constexpr double kStep = 1.0 / 16;  // distance of the sizes that are tried, in octaves

// A way to do an all-reduce counts as faster than another only if its time is below this multiple of the other's:
// smaller differences are rounding errors.
constexpr double kEqual = 1 - 1e-12;

Way Shortest(const Link& link, double bytes, int processes) {
  Way best = kWays[0];
  for (Way way : kWays) {
    if (CostOf(way, bytes, processes).On(link) < kEqual * CostOf(best, bytes, processes).On(link)) best = way;
  }
  return best;
}

// Returns the size from which on `beyond` is true. It must be false at `low` and true at `high`.
double Bisect(double low, double high, absl::FunctionRef<bool(double)> beyond) {
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (beyond(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

std::vector<Stretch> Crossovers(const Link& link, int processes) {
  std::vector<Stretch> stretches = {{0, Shortest(link, 1, processes)}};
  double before = 1;
  for (double octave = kStep; std::exp2(octave) <= kLargest; octave += kStep) {
    const double bytes = std::exp2(octave);
    const Way last = stretches.back().way, now = Shortest(link, bytes, processes);
    if (now != last) {
      const double from = Bisect(before, bytes, [&](double b) { return Shortest(link, b, processes) != last; });
      stretches.push_back({from, now});
    }
    before = bytes;
  }
  return stretches;
}

double Crossover(Way first, Way second, const Link& link, int processes) {
  const auto beyond = [&](double bytes) {
    return CostOf(second, bytes, processes).On(link) < kEqual * CostOf(first, bytes, processes).On(link);
  };
  if (beyond(1)) return 0;
  if (!beyond(kLargest)) return std::numeric_limits<double>::infinity();
  return Bisect(1, kLargest, beyond);
}

}  // namespace tandem
