#include "base/precision.h"

#include "absl/strings/str_cat.h"

namespace tandem {

absl::string_view Name(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return "float32";
    case Precision::kStrictFloat32:
      return "strict_float32";
    case Precision::kMixedBfloat16:
      return "mixed_bfloat16";
  }
  return "float32";
}

absl::StatusOr<Precision> PrecisionFromName(absl::string_view name) {
  for (Precision p : {Precision::kFloat32, Precision::kStrictFloat32, Precision::kMixedBfloat16}) {
    if (Name(p) == name) return p;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown precision \"", name, "\"; use float32, strict_float32 or mixed_bfloat16"));
}

}  // namespace tandem
