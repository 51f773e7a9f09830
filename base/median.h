#ifndef TANDEM_BASE_MEDIAN_H_
#define TANDEM_BASE_MEDIAN_H_

#include <algorithm>
#include <vector>

namespace tandem {

// Returns the median; of an even number of values the upper one of the middle two. `values` must not be empty.
inline double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace tandem

#endif  // TANDEM_BASE_MEDIAN_H_
