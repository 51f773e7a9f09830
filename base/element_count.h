// The number of elements of an untrusted shape.
#ifndef TANDEM_BASE_ELEMENT_COUNT_H_
#define TANDEM_BASE_ELEMENT_COUNT_H_

#include <cstdint>

#include "absl/types/span.h"

namespace tandem {

// Returns the product of all sizes; -1 if one is negative, or if the bytes of so many elements would not fit into 62
// bits.
int64_t CheckedNumElements(absl::Span<const int64_t> shape);

}  // namespace tandem

#endif  // TANDEM_BASE_ELEMENT_COUNT_H_
