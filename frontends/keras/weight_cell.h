// WeightCell: a weight of a layer object, and where its newest value is. Internal to the Keras frontend.
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

// Who trains weights, and so has values that are newer than what the cells have.
class WeightHolder {
 public:
  virtual ~WeightHolder() = default;
  virtual absl::StatusOr<HostTensor> Read(const WeightCell& cell) = 0;
};

// Models that share a layer share its cells. An Estimator takes the values of cells before it runs, and is then their
// holder until a value is assigned or another Estimator takes them.
struct WeightCell {
  const LayerImpl* layer = nullptr;  // which owns it
  std::string name;                  // within the layer: "kernel"
  std::string first_value_key;       // names the random numbers of the first value
  uint64_t seed = 0;
  DType dtype = DType::kFloat32;
  Shape shape;
  bool trainable = true;  // unless the layer is not
  Initializer initializer;
  FirstValueFn first_value;  // in place of the initializer, where it is set

  std::optional<HostTensor> value;  // nothing: the holder's, or else the first value
  std::shared_ptr<WeightHolder> holder;
  uint64_t writes = 0;  // how often a value was assigned

  // "dense/kernel".
  std::string FullName() const;
  absl::StatusOr<HostTensor> Value() const;
  absl::Status Assign(const HostTensor& value);
};

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_WEIGHT_CELL_H_
