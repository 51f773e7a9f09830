#include "estimator/loop/label_check.h"

#include "absl/strings/str_cat.h"

namespace tandem {
namespace {

template <typename T>
absl::Status CheckValues(const HostTensor& labels, const LabelRange& range) {
  const T* values = labels.data<T>();
  for (int64_t i = 0; i < labels.num_elements(); ++i) {
    const int64_t label = static_cast<int64_t>(values[i]);
    if (label >= 0 && label < range.classes) continue;
    if (!range.class_weights.empty()) {
      const std::string has = range.classes == 1
                                  ? "1 weight, of class 0"
                                  : absl::StrCat(range.classes, " weights, of the classes 0 to ", range.classes - 1);
      return absl::OutOfRangeError(absl::StrCat("component \"", range.component, "\" of the input: label ", label,
                                                " in row ", i, " of its batch, and ClassWeights at ",
                                                range.class_weights, " has ", has,
                                                "; give it one weight for each class, or correct the data"));
    }
    if (range.table) {
      const int64_t per_row = labels.num_elements() / labels.shape()[0];
      return absl::OutOfRangeError(absl::StrCat(
          "component \"", range.component, "\" of the input: index ", label, ", element ", i % per_row, " of row ",
          i / per_row, " of its batch, is not one of the ", range.classes, " rows 0 to ", range.classes - 1,
          " of the table that it looks up; correct the data, or give the embedding a larger `input_dim`"));
    }
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
