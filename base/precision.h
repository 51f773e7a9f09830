// How exact a program's float32 arithmetic has to be.
#ifndef TANDEM_BASE_PRECISION_H_
#define TANDEM_BASE_PRECISION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

enum class Precision {
  kFloat32,        // float32; algorithms with a somewhat larger rounding error (Winograd) are allowed
  kStrictFloat32,  // float32; only algorithms that round as plain sums of products do
  kMixedBfloat16,  // bfloat16 for convolutions, matmuls and the activations between them; float32 for variables,
                   // accumulation, sums, losses and updates
};

// "float32", "strict_float32", "mixed_bfloat16".
absl::string_view Name(Precision precision);
// The inverse; InvalidArgument, listing the names, for any other text.
absl::StatusOr<Precision> PrecisionFromName(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_BASE_PRECISION_H_
