// The precision of a program's float32 arithmetic.
#ifndef TANDEM_BASE_PRECISION_H_
#define TANDEM_BASE_PRECISION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// RunConfig.precision.
enum class Precision {
  kFloat32,        // float32; algorithms with a somewhat larger rounding error (Winograd) are allowed
  kStrictFloat32,  // float32; only algorithms that round as plain sums of products do
  // Values are bfloat16 in convolutions, matmuls and the activations between them. They are float32 in variables,
  // accumulation, sums, losses and updates.
  kMixedBfloat16,
};

// Names of td ops ("softmax", "max_pool") for which mixed precision should not follow the op's own rule. An op in
// `allow` computes with bfloat16 operands, one in `deny` with float32; ops in `infer` and `clear` follow the ops around
// them, as docs/reference/passes.md, td-paint-precision, explains. A name that is no op, or an op that has no choice,
// is a compile error.
struct PrecisionLists {
  std::vector<std::string> allow = {};
  std::vector<std::string> infer = {};
  std::vector<std::string> clear = {};
  std::vector<std::string> deny = {};
};

// Returns "float32", "strict_float32" or "mixed_bfloat16".
absl::string_view Name(Precision precision);
// Returns the precision with this name; InvalidArgument, listing the names, for any other text.
absl::StatusOr<Precision> PrecisionFromName(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_BASE_PRECISION_H_
