#include "tools/checkpoint/show.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/count_text.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/tensor_values.h"

namespace tandem {
namespace {

// Appends the rows of `tensors` to the text, and adds up their elements and bytes.
absl::Status AddRows(const CheckpointReader& checkpoint, const std::vector<SavedTensor>& tensors, int name_width,
                     int type_width, std::string* text, int64_t* elements, int64_t* bytes) {
  for (const SavedTensor& tensor : tensors) {
    absl::StrAppendFormat(text, "%-*s  %-*s", name_width, PrintableLine(tensor.name), type_width, tensor.TypeString());
    if (tensor.dtype == DType::kInvalid) {
      absl::StrAppend(text, "  a type that Tandem does not read\n");
      continue;
    }
    TD_ASSIGN_OR_RETURN(const HostTensor value, checkpoint.Read(tensor.name));
    const TensorStatistics s = StatisticsOf(value);
    absl::StrAppendFormat(text, "  %12.5g %12.5g %12.5g %12.5g %11d\n", s.min, s.mean, s.max, s.norm, s.not_finite);
    *elements += value.num_elements();
    *bytes += value.byte_size();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ShowCheckpoint(const CheckpointReader& checkpoint) {
  size_t name_width = 4, type_width = 4;
  for (const auto* tensors : {&checkpoint.variables(), &checkpoint.slots()}) {
    for (const SavedTensor& tensor : *tensors) {
      name_width = std::max(name_width, PrintableLine(tensor.name).size());
      type_width = std::max(type_width, tensor.TypeString().size());
    }
  }
  std::string text = PrintableLine(checkpoint.path());
  if (checkpoint.global_step().has_value()) absl::StrAppend(&text, ": step ", *checkpoint.global_step());
  absl::StrAppendFormat(&text, "\n%-*s  %-*s  %12s %12s %12s %12s %11s\n", name_width, "name", type_width, "type",
                        "min", "mean", "max", "norm", "not finite");
  const int names = static_cast<int>(name_width), types = static_cast<int>(type_width);
  int64_t elements = 0, slot_elements = 0, bytes = 0;
  TD_RETURN_IF_ERROR(AddRows(checkpoint, checkpoint.variables(), names, types, &text, &elements, &bytes));
  if (!checkpoint.slots().empty()) {
    text += "optimizer slots\n";
    TD_RETURN_IF_ERROR(AddRows(checkpoint, checkpoint.slots(), names, types, &text, &slot_elements, &bytes));
  }
  absl::StrAppend(&text, CountText(checkpoint.variables().size(), "variable"), " with ", CountText(elements, "element"),
                  ", ", CountText(checkpoint.slots().size(), "slot"), " with ", CountText(slot_elements, "element"),
                  ", ", CountText(bytes, "byte"), "\n");
  return text;
}

absl::StatusOr<std::string> ShowTensor(const CheckpointReader& checkpoint, const std::string& name, int64_t limit) {
  TD_ASSIGN_OR_RETURN(const HostTensor value, checkpoint.Read(name));
  return absl::StrCat(PrintableLine(name), ": ", Name(value.dtype()), ShapeString(value.shape()), "\n",
                      ValuesText(value, limit));
}

}  // namespace tandem
