#include "base/element_count.h"

#include <algorithm>

namespace tandem {

int64_t CheckedNumElements(absl::Span<const int64_t> shape) {
  constexpr int64_t kMaxElements = int64_t{1} << 59;
  bool fits = true;
  int64_t n = 1;
  for (int64_t d : shape) {
    if (d < 0) return -1;
    if (d == 0) return *std::min_element(shape.begin(), shape.end()) < 0 ? -1 : 0;
    fits = fits && n <= kMaxElements / d;
    if (fits) n *= d;
  }
  return fits ? n : -1;
}

}  // namespace tandem
