#include "passes/onnx/constants.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "graph/ir/interfaces.h"
#include "passes/serialize/constant_names.h"

namespace tandem::onnx {
namespace {

template <typename T>
void Count(HostTensor& tensor) {
  for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.data<T>()[i] = static_cast<T>(i);
}

}  // namespace

HostTensor Permuted(const HostTensor& value, absl::Span<const int64_t> permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return value;
  const int64_t rank = value.rank();
  std::vector<int64_t> from_strides(rank, 1);
  for (int64_t i = rank - 2; i >= 0; --i) from_strides[i] = from_strides[i + 1] * value.shape()[i + 1];
  Shape shape;
  std::vector<int64_t> strides;
  for (int64_t dimension : permutation) {
    shape.push_back(value.shape()[dimension]);
    strides.push_back(from_strides[dimension]);
  }
  HostTensor result(value.dtype(), shape);
  const int64_t bytes = SizeOf(value.dtype());
  const char* from = static_cast<const char*>(value.raw());
  char* to = static_cast<char*>(result.raw());
  std::vector<int64_t> at(rank, 0);
  int64_t offset = 0;  // offset in `value`, in elements, of the result's element `at`
  for (int64_t i = 0; i < result.num_elements(); ++i) {
    std::memcpy(to + i * bytes, from + offset * bytes, bytes);
    for (int64_t d = rank - 1; d >= 0; --d) {
      offset += strides[d];
      if (++at[d] < shape[d]) break;
      offset -= at[d] * strides[d];
      at[d] = 0;
    }
  }
  return result;
}

HostTensor Counted(int64_t count, DType dtype) {
  HostTensor result(dtype, {count});
  switch (dtype) {
    case DType::kFloat64:
      Count<double>(result);
      break;
    case DType::kInt32:
      Count<int32_t>(result);
      break;
    case DType::kInt64:
      Count<int64_t>(result);
      break;
    default:
      Count<float>(result);
  }
  return result;
}

HostTensor ElementsOf(mlir::DenseElementsAttr elements) {
  HostTensor value(td::ToDType(elements.getElementType()), td::ToShape(elements.getType()));
  const std::string bytes = ConstantBytes(elements);
  std::memcpy(value.raw(), bytes.data(), std::min<int64_t>(value.byte_size(), bytes.size()));
  return value;
}

}  // namespace tandem::onnx
