#include "estimator/label_check.h"

#include "absl/strings/str_cat.h"

namespace tandem {
namespace {

template <typename T>
absl::Status CheckValues(const HostTensor& labels, const LabelRange& range) {
  const T* values = labels.data<T>();
  for (int64_t i = 0; i < labels.num_elements(); ++i) {
    const int64_t label = static_cast<int64_t>(values[i]);
    if (label >= 0 && label < range.classes) continue;
    return absl::OutOfRangeError(
        absl::StrCat("component \"", range.component, "\" of the input: label ", label, " in row ", i,
                     " of its batch is not one of the ", range.classes, " classes 0 to ", range.classes - 1,
                     "; correct the data, or give the model's last layer as many units as there are classes"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLabels(const HostTensor& labels, const LabelRange& range) {
  switch (labels.dtype()) {
    case DType::kInt32:
      return CheckValues<int32_t>(labels, range);
    case DType::kInt64:
      return CheckValues<int64_t>(labels, range);
    case DType::kUInt8:
      return CheckValues<uint8_t>(labels, range);
    default:
      return absl::OkStatus();
  }
}

}  // namespace tandem
