#include "tests/oracle/draw.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::oracle {
namespace {

std::mt19937_64 Random(const std::string& key) {
  std::seed_seq seed(key.begin(), key.end());
  return std::mt19937_64(seed);
}

template <typename T>
HostTensor As(const ref::Numbers& n) {
  HostTensor t(DTypeOf<T>::value, n.shape);
  std::transform(n.values.begin(), n.values.end(), t.data<T>(), [](double v) { return static_cast<T>(v); });
  return t;
}

}  // namespace

HostTensor ToTensor(DType dtype, const ref::Numbers& n) {
  if (dtype == DType::kInt32) return As<int32_t>(n);
  if (dtype == DType::kInt64) return As<int64_t>(n);
  if (dtype == DType::kBool) return As<bool>(n);
  return As<float>(n);
}

ref::Numbers ToNumbers(const HostTensor& tensor) {
  HostTensor wide = compiled::ToFloat64(tensor);
  return {tensor.shape(), {wide.data<double>(), wide.data<double>() + wide.num_elements()}};
}

ref::NumbersMap ToNumbers(const TensorMap& tensors) {
  ref::NumbersMap numbers;
  for (const auto& [name, tensor] : tensors) numbers[name] = ToNumbers(tensor);
  return numbers;
}

ref::Numbers FirstValue(const std::string& model, const std::string& variable, const Shape& shape) {
  std::mt19937_64 random = Random(model + " " + variable);
  const bool positive = variable.ends_with("/gamma") || variable.ends_with("/moving_variance");
  ref::Numbers n{shape, std::vector<double>(NumElements(shape))};
  // Wide layers get smaller weights, so that training does not run away in three steps.
  const double inputs = shape.size() < 2 ? 1 : static_cast<double>(n.values.size()) / static_cast<double>(shape.back());
  const double limit = std::min(0.7, 1.5 / std::sqrt(inputs));
  std::uniform_real_distribution<double> uniform(positive ? 0.5 : -limit, positive ? 1.5 : limit);
  for (double& v : n.values) v = uniform(random);
  return n;
}

TensorMap DrawInputs(const Executable& executable, const Model& model, int64_t rows, const std::string& key) {
  TensorMap inputs;
  for (const auto& input : executable.index().inputs) {
    std::mt19937_64 random = Random(key + " " + input.name);
    const DType dtype = input.dtype;
    const bool real = dtype == DType::kFloat32;
    Range range = real ? Range() : Range{0, dtype == DType::kBool ? 2.0 : 4.0};
    if (auto given = model.ranges.find(input.name); given != model.ranges.end()) range = given->second;
    std::uniform_real_distribution<double> uniform(range.low, range.high);
    ref::Numbers n{Shape(input.shape.begin(), input.shape.end()), {}};
    n.shape[0] = rows;
    n.values.resize(NumElements(n.shape));
    for (double& v : n.values) v = real && !range.whole ? uniform(random) : std::floor(uniform(random));
    inputs[input.name] = ToTensor(dtype, n);
  }
  return inputs;
}

}  // namespace tandem::oracle
