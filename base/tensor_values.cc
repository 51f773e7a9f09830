#include "base/tensor_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace tandem {
namespace {

// Returns |a - b|, which may be too large for int64_t.
uint64_t Distance(int64_t a, int64_t b) {
  const auto of_a = static_cast<uint64_t>(a), of_b = static_cast<uint64_t>(b);
  return a > b ? of_a - of_b : of_b - of_a;
}

}  // namespace

std::optional<int64_t> IntegerAt(const HostTensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kInt32:
      return tensor.data<int32_t>()[i];
    case DType::kInt64:
      return tensor.data<int64_t>()[i];
    case DType::kUInt8:
    case DType::kBool:
      return static_cast<const uint8_t*>(tensor.raw())[i];
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kBFloat16:  // tensors outside of programs never have this type
    case DType::kString:
    case DType::kInvalid:
      break;
  }
  return std::nullopt;
}

double NumberAt(const HostTensor& tensor, int64_t i) {
  if (tensor.dtype() == DType::kFloat32) return tensor.data<float>()[i];
  if (tensor.dtype() == DType::kFloat64) return tensor.data<double>()[i];
  return static_cast<double>(IntegerAt(tensor, i).value_or(0));
}

std::string TextAt(const HostTensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return absl::StrFormat("%.9g", tensor.data<float>()[i]);
    case DType::kFloat64:
      return absl::StrFormat("%.17g", tensor.data<double>()[i]);
    case DType::kBool:
      return IntegerAt(tensor, i) != 0 ? "true" : "false";
    default:
      return absl::StrCat(IntegerAt(tensor, i).value_or(0));
  }
}

TensorStatistics StatisticsOf(const HostTensor& tensor) {
  TensorStatistics result;
  double sum = 0, squares = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double value = NumberAt(tensor, i);
    if (!std::isfinite(value)) {
      ++result.not_finite;
      continue;
    }
    result.min = finite == 0 ? value : std::min(result.min, value);
    result.max = finite == 0 ? value : std::max(result.max, value);
    sum += value;
    squares += value * value;
    ++finite;
  }
  if (finite > 0) result.mean = sum / static_cast<double>(finite);
  result.norm = std::sqrt(squares);
  return result;
}

std::string IndexText(const Shape& shape, int64_t i) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) index[d] = i % shape[d];
  return absl::StrCat("[", absl::StrJoin(index, ","), "]");
}

std::string ValuesText(const HostTensor& tensor, int64_t limit) {
  const int64_t elements = tensor.num_elements();
  const int64_t shown = limit < 0 ? elements : std::min(elements, limit);
  const Shape rows(tensor.shape().begin(), tensor.shape().end() - (tensor.rank() > 0 ? 1 : 0));
  const int64_t width = tensor.rank() > 0 ? std::max<int64_t>(1, tensor.shape().back()) : 1;
  std::string text;
  for (int64_t i = 0; i < shown; ++i) {
    if (i % width == 0)
      absl::StrAppend(&text, i > 0 ? "\n" : "", rows.empty() ? "" : IndexText(rows, i / width) + "  ");
    absl::StrAppend(&text, i % width == 0 ? "" : " ", TextAt(tensor, i));
  }
  if (shown > 0) text += "\n";
  if (shown < elements)
    absl::StrAppend(&text, "the first ", shown, " of ", elements, " elements; --limit=-1 shows all\n");
  return text;
}

std::string DifferencesText(const HostTensor& a, const HostTensor& b) {
  const int64_t size = SizeOf(a.dtype());
  int64_t differ = 0, not_finite = 0, at = -1;
  double most = -1;
  uint64_t most_of_integers = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const auto* of_a = static_cast<const char*>(a.raw()) + i * size;
    const auto* of_b = static_cast<const char*>(b.raw()) + i * size;
    if (std::memcmp(of_a, of_b, size) == 0) continue;
    ++differ;
    if (const std::optional<int64_t> integer = IntegerAt(a, i); integer.has_value()) {
      const uint64_t distance = Distance(*integer, *IntegerAt(b, i));
      if (distance > most_of_integers) at = i;
      most_of_integers = std::max(most_of_integers, distance);
      continue;
    }
    const double difference = std::abs(NumberAt(a, i) - NumberAt(b, i));
    if (!std::isfinite(difference)) {
      ++not_finite;
    } else if (difference > most) {
      most = difference;
      at = i;
    }
  }
  std::string text = absl::StrCat(differ, " of ", a.num_elements(), " elements differ");
  if (at >= 0) {
    absl::StrAppend(&text, ", by at most ",
                    most_of_integers > 0 ? absl::StrCat(most_of_integers) : absl::StrFormat("%.6g", most), ", at ",
                    IndexText(a.shape(), at), ": ", TextAt(a, at), " and ", TextAt(b, at));
  }
  if (not_finite > 0) absl::StrAppend(&text, ", ", not_finite, " of them where one is not finite");
  return text;
}

}  // namespace tandem
