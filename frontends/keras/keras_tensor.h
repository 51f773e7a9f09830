// KerasTensor: a value in a model under construction, with its shape and the layer that makes it.
#ifndef TANDEM_FRONTENDS_KERAS_KERAS_TENSOR_H_
#define TANDEM_FRONTENDS_KERAS_KERAS_TENSOR_H_

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tandem/base/api.h"
#include "tandem/base/dtype.h"
#include "tandem/base/source_location.h"

namespace tandem::keras {

struct LayerCall;  // defined in frontends/keras/network.h

}  // namespace tandem::keras

namespace TANDEM_API tandem {
namespace keras {

// A symbolic tensor of a model; a cheap handle. After an error, status() returns the error, and there is no shape, type
// or call. Layers that are called on such a tensor return tensors with the same status.
class KerasTensor {
 public:
  KerasTensor() = default;
  explicit KerasTensor(absl::Status error) : status_(std::move(error)) {}
  KerasTensor(std::shared_ptr<const LayerCall> call, int index) : call_(std::move(call)), index_(index) {}

  // The shape with kBatch as the first dimension; empty after an error.
  const Shape& shape() const;
  DType dtype() const;  // kInvalid after an error
  absl::Status status() const;
  // Describes the tensor for messages: "conv2d at model.cc:12".
  std::string ToString() const;

  const std::shared_ptr<const LayerCall>& call() const { return call_; }
  int index() const { return index_; }  // index among the outputs of the call
  bool operator==(const KerasTensor& other) const { return call_ == other.call_ && index_ == other.index_; }

 private:
  std::shared_ptr<const LayerCall> call_;
  int index_ = 0;
  absl::Status status_;
};

// One or several tensors, for Model and for layers with several inputs.
class KerasTensors : public std::vector<KerasTensor> {
 public:
  KerasTensors() = default;
  KerasTensors(const KerasTensor& one) : std::vector<KerasTensor>{one} {}                           // NOLINT: implicit
  KerasTensors(std::initializer_list<KerasTensor> several) : std::vector<KerasTensor>(several) {}   // NOLINT: implicit
  KerasTensors(std::vector<KerasTensor> several) : std::vector<KerasTensor>(std::move(several)) {}  // NOLINT: implicit
};

struct InputOptions {
  Shape shape;  // shape of one example, without the batch: {28, 28, 1}
  DType dtype = DType::kFloat32;
  std::string name;  // default "input_1", "input_2", ...
};
// Makes an input of a model.
KerasTensor Input(const InputOptions& options, SourceLocation loc = SourceLocation::Current());

// Operators that call the layers Add, Subtract and Multiply; with a number as an operand, a Lambda layer.
KerasTensor operator+(const KerasTensor& x, const KerasTensor& y);
KerasTensor operator-(const KerasTensor& x, const KerasTensor& y);
KerasTensor operator*(const KerasTensor& x, const KerasTensor& y);

}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_KERAS_KERAS_TENSOR_H_
