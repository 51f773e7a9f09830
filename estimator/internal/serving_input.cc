#include "estimator/serving_input.h"

#include <set>

#include "absl/strings/str_cat.h"

namespace tandem {

absl::Status ServingInput::Validate(const std::string& what) const {
  const auto wrong = [&](auto... problem) { return absl::InvalidArgumentError(absl::StrCat(what, ": ", problem...)); };
  if (input_fn && !features.empty()) return wrong("features and an input_fn are given; leave one of them out");
  if (!input_fn && features.empty()) {
    return wrong("there are no features; list their names, types and shapes, or give an input_fn that has them");
  }
  if (rows_per_step < 0) {
    return wrong("rows_per_step must not be negative, got ", rows_per_step, "; 0 takes the usual number");
  }
  std::set<std::string> names;
  for (const ComponentSpec& feature : features) {
    if (feature.name.empty()) return wrong("a feature has no name");
    if (!names.insert(feature.name).second) return wrong("two features have the name \"", feature.name, "\"");
    if (SizeOf(feature.dtype) == 0 || feature.dtype == DType::kBFloat16) {
      return wrong("feature \"", feature.name, "\" is of type ", Name(feature.dtype),
                   "; take one that programs compute with, such as DType::kFloat32");
    }
    if (feature.shape.empty() || feature.shape[0] != kBatch) {
      return wrong("feature \"", feature.name, "\" has shape ", ShapeString(feature.shape),
                   ", which does not begin with the batch; write {kBatch, ...}");
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
