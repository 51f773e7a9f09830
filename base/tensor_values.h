// Statistics of tensors, and tensors as text.
#ifndef TANDEM_BASE_TENSOR_VALUES_H_
#define TANDEM_BASE_TENSOR_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/host_tensor.h"

namespace tandem {

// Returns element `i` in row-major order as a number; bools are 0 and 1. 0 <= i < num_elements().
double NumberAt(const HostTensor& tensor, int64_t i);
// Returns the element exactly, for a tensor of integers or bools; nullopt for floating-point.
std::optional<int64_t> IntegerAt(const HostTensor& tensor, int64_t i);
// Returns the element as text, with enough digits to distinguish it from all other numbers of its type.
std::string TextAt(const HostTensor& tensor, int64_t i);

struct TensorStatistics {
  // Statistics of the finite elements; 0 if there are none.
  double min = 0, mean = 0, max = 0, norm = 0;
  int64_t not_finite = 0;
};

TensorStatistics StatisticsOf(const HostTensor& tensor);

// Returns the index of element `i`: "[1,0,7]"; "[]" for a scalar.
std::string IndexText(const Shape& shape, int64_t i);

// Returns a line for each index of all dimensions but the last, followed by the elements: "[1,0]  0.5 -2 3". If there
// are more than `limit` elements, returns the first ones, and a line with their total number; -1: all.
std::string ValuesText(const HostTensor& tensor, int64_t limit);

// Describes the differences between two tensors of the same type and shape with different bits: "3 of 12 elements
// differ, by at most 0.5, at [1,2]: 0.25 and 0.75".
std::string DifferencesText(const HostTensor& a, const HostTensor& b);

}  // namespace tandem

#endif  // TANDEM_BASE_TENSOR_VALUES_H_
