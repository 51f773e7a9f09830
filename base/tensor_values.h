// Numbers about tensors, and tensors as text.
#ifndef TANDEM_BASE_TENSOR_VALUES_H_
#define TANDEM_BASE_TENSOR_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/host_tensor.h"

namespace tandem {

// Element `i` in row-major order as a number; bools are 0 and 1. 0 <= i < num_elements().
double NumberAt(const HostTensor& tensor, int64_t i);
// The same, exactly, of a tensor of integers or bools; of floating point nothing.
std::optional<int64_t> IntegerAt(const HostTensor& tensor, int64_t i);
// The same as text, with as many digits as tell it from all others of its type.
std::string TextAt(const HostTensor& tensor, int64_t i);

struct TensorStatistics {
  // Of the finite elements; 0 without any.
  double min = 0, mean = 0, max = 0, norm = 0;
  int64_t not_finite = 0;
};

TensorStatistics StatisticsOf(const HostTensor& tensor);

// "[1,0,7]" of element `i`; "[]" of a scalar's.
std::string IndexText(const Shape& shape, int64_t i);

// A line for each index of all dimensions but the last, which has its elements: "[1,0]  0.5 -2 3". Of more than `limit`
// elements the first so many, and a line that says how many there are; -1: all.
std::string ValuesText(const HostTensor& tensor, int64_t limit);

// What differs between two tensors of one type and shape whose bits do: "3 of 12 elements differ, by at most 0.5, at
// [1,2]: 0.25 and 0.75".
std::string DifferencesText(const HostTensor& a, const HostTensor& b);

}  // namespace tandem

#endif  // TANDEM_BASE_TENSOR_VALUES_H_
