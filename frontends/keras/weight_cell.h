// WeightCell: a weight of a layer object, which stores its newest value or knows who has it. Internal to the Keras
// frontend.
#ifndef TANDEM_FRONTENDS_KERAS_WEIGHT_CELL_H_
#define TANDEM_FRONTENDS_KERAS_WEIGHT_CELL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "base/host_tensor.h"
#include "base/initializer.h"
#include "graph/graph_builder.h"

namespace tandem::keras {

class LayerImpl;
struct WeightCell;

// An object (an Estimator) that trains weights, so that its values are newer than those in the cells.
class WeightHolder {
 public:
  virtual ~WeightHolder() = default;
  virtual absl::StatusOr<HostTensor> Read(const WeightCell& cell) = 0;
};

// One weight. Models that share a layer share its cells. An Estimator copies the values of the cells before it runs,
// and is then their holder, until a value is assigned or another Estimator copies them.
struct WeightCell {
  const LayerImpl* layer = nullptr;  // the layer that owns the weight
  std::string name;                  // name within the layer: "kernel"
  std::string first_value_key;       // key of the random numbers of the initial value
  uint64_t seed = 0;
  DType dtype = DType::kFloat32;
  Shape shape;
  bool trainable = true;  // the weight is trained only if the layer is trainable too
  Initializer initializer;
  FirstValueFn first_value;  // if set, computes the initial value instead of `initializer`

  std::optional<HostTensor> value;  // if nullopt, the holder has it, or without a holder it is the initial value
  std::shared_ptr<WeightHolder> holder;
  uint64_t writes = 0;  // how often a value was assigned

  // Returns the layer's and the weight's name, "dense/kernel".
  std::string FullName() const;
  absl::StatusOr<HostTensor> Value() const;
  absl::Status Assign(const HostTensor& value);
};

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_WEIGHT_CELL_H_
