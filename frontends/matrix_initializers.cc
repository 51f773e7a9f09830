// Initialisers whose values depend on each other: Orthogonal and Identity.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/host_tensor.h"
#include "base/initializer.h"
#include "frontends/initializers.h"

namespace tandem::initializers {
namespace {

// Makes the `columns` vectors orthonormal, one after another. Each has `size` >= `columns` numbers, and they must be
// linearly independent. Uses the modified Gram-Schmidt method, twice for each vector ("twice is enough", Giraud et al.
// 2005).
void Orthonormalize(std::vector<double>& vectors, int64_t size, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) {
    double* vector = vectors.data() + j * size;
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t k = 0; k < j; ++k) {
        const double* other = vectors.data() + k * size;
        double sums[4] = {0, 0, 0, 0};  // four independent sums, which the processor can compute in parallel
        int64_t i = 0;
        for (; i + 4 <= size; i += 4) {
          for (int lane = 0; lane < 4; ++lane) sums[lane] += vector[i + lane] * other[i + lane];
        }
        for (; i < size; ++i) sums[0] += vector[i] * other[i];
        const double product = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        for (i = 0; i < size; ++i) vector[i] -= product * other[i];
      }
    }
    double square = 0;
    for (int64_t i = 0; i < size; ++i) square += vector[i] * vector[i];
    const double scale = 1 / std::sqrt(square);
    for (int64_t i = 0; i < size; ++i) vector[i] *= scale;
  }
}

// Converts row-major numbers to a tensor of a floating-point type.
absl::StatusOr<HostTensor> FloatTensor(DType dtype, const Shape& shape, const std::vector<double>& values) {
  if (dtype == DType::kFloat64) return HostTensor::FromVector<double>(shape, values);
  if (dtype == DType::kFloat32) {
    return HostTensor::FromVector<float>(shape, std::vector<float>(values.begin(), values.end()));
  }
  return absl::InvalidArgumentError(absl::StrCat("a variable of ", Name(dtype), " cannot have it; make it float32"));
}

absl::StatusOr<HostTensor> OrthogonalValue(double gain, absl::string_view name, DType dtype, const Shape& shape,
                                           uint64_t seed) {
  const int64_t columns = shape.back(), rows = NumElements(shape) / std::max<int64_t>(1, columns);
  const int64_t size = std::max(rows, columns), count = std::min(rows, columns);
  std::vector<double> q(size * count);
  absl::Status filled = FillInitialValue({Initializer::Kind::kNormal, 0, 1}, name, seed, DType::kFloat64,
                                         static_cast<int64_t>(q.size()), q.data());
  if (!filled.ok()) return filled;
  Orthonormalize(q, size, count);
  std::vector<double> values(rows * columns);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      values[i * columns + j] = gain * (rows >= columns ? q[j * size + i] : q[i * size + j]);
    }
  }
  return FloatTensor(dtype, shape, values);
}

}  // namespace

InitializerFn Orthogonal(double gain) {
  return {{"Orthogonal", {{"gain", gain}, {"seed", std::monostate()}}},
          [gain](absl::string_view name, DType dtype, const Shape& shape, uint64_t seed) {
            return OrthogonalValue(gain, name, dtype, shape, seed);
          },
          2,
          1 << 20};
}

InitializerFn Identity(double gain) {
  return {{"Identity", {{"gain", gain}}},
          [gain](absl::string_view, DType dtype, const Shape& shape, uint64_t) {
            std::vector<double> values(NumElements(shape));
            for (int64_t i = 0; i < std::min(shape[0], shape[1]); ++i) values[i * shape[1] + i] = gain;
            return FloatTensor(dtype, shape, values);
          },
          2,
          2};
}

}  // namespace tandem::initializers
