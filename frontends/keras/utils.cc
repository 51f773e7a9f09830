#include "frontends/keras/utils.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/dtype.h"

namespace tandem::keras::utils {
namespace {

template <typename T>
std::vector<double> NumbersOf(const HostTensor& tensor) {
  return std::vector<double>(tensor.values<T>().begin(), tensor.values<T>().end());
}

// Returns the labels as doubles, which hold class numbers below 2^31 exactly.
absl::StatusOr<std::vector<double>> LabelNumbers(const HostTensor& labels) {
  switch (labels.dtype()) {
    case DType::kUInt8:
    case DType::kBool:
      return NumbersOf<uint8_t>(labels);
    case DType::kInt32:
      return NumbersOf<int32_t>(labels);
    case DType::kInt64:
      return NumbersOf<int64_t>(labels);
    case DType::kFloat32:
      return NumbersOf<float>(labels);
    case DType::kFloat64:
      return NumbersOf<double>(labels);
    default:
      return absl::InvalidArgumentError(absl::StrCat("labels are class numbers, not ", Name(labels.dtype())));
  }
}

}  // namespace

absl::StatusOr<HostTensor> ToCategorical(const HostTensor& labels, int64_t num_classes, SourceLocation loc) {
  auto error = [&](absl::string_view problem) {
    return absl::InvalidArgumentError(absl::StrCat("ToCategorical at ", loc.file, ":", loc.line, ": ", problem));
  };
  if (!labels.status().ok()) return labels.status();
  if (labels.empty()) return error("labels are an empty tensor");
  if (num_classes < 0) return error(absl::StrCat("num_classes is ", num_classes, "; it must be at least 1, or 0"));
  absl::StatusOr<std::vector<double>> numbers = LabelNumbers(labels);
  if (!numbers.ok()) return error(numbers.status().message());
  // The largest accepted number of classes. Larger numbers are not meant as classes, and one-hot rows would fill the
  // memory.
  constexpr double kMostClasses = 1 << 30;
  double largest = -1;
  for (size_t i = 0; i < numbers->size(); ++i) {
    const double label = (*numbers)[i];
    largest = std::max(largest, label);
    if (label >= 0 && label == std::floor(label) && label < (num_classes == 0 ? kMostClasses : num_classes)) continue;
    return error(absl::StrCat("label ", i, " is ", label, "; it must be a whole number ",
                              num_classes == 0 ? "of at least 0" : absl::StrCat("from 0 to ", num_classes - 1)));
  }
  if (num_classes == 0) num_classes = static_cast<int64_t>(largest) + 1;
  if (num_classes == 0) return error("there is no label to count classes by; give num_classes");
  Shape shape = labels.shape();
  if (shape.size() > 1 && shape.back() == 1) shape.pop_back();
  shape.push_back(num_classes);
  HostTensor rows = HostTensor::Zeros(DType::kFloat32, std::move(shape), loc);
  if (!rows.status().ok()) return rows.status();
  float* out = rows.data<float>();
  for (size_t i = 0; i < numbers->size(); ++i) {
    out[static_cast<int64_t>(i) * num_classes + static_cast<int64_t>((*numbers)[i])] = 1;
  }
  return rows;
}

HostTensor Rows(const HostTensor& tensor, int64_t begin, int64_t end) {
  if (tensor.empty() || tensor.rank() == 0 || tensor.dtype() == DType::kString) return tensor;
  Shape shape = tensor.shape();
  const int64_t bytes = shape[0] > 0 ? tensor.byte_size() / shape[0] : 0;
  end = std::clamp<int64_t>(end, 0, shape[0]);
  begin = std::clamp<int64_t>(begin, 0, end);
  shape[0] = end - begin;
  HostTensor rows(tensor.dtype(), shape);
  std::memcpy(rows.raw(), static_cast<const char*>(tensor.raw()) + begin * bytes,
              static_cast<size_t>(bytes * shape[0]));
  return rows;
}

}  // namespace tandem::keras::utils
