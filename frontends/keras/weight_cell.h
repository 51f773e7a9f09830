// WeightCell: a weight of a layer object, and the place of its newest value. Internal to the Keras frontend.
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

// Trains weights, and so has values newer than those in the cells.
class WeightHolder {
 public:
  virtual ~WeightHolder() = default;
  virtual absl::StatusOr<HostTensor> Read(const WeightCell& cell) = 0;
};

// Models that share a layer share its cells. An Estimator takes the values of cells before it runs, and then is their
// holder until a value is assigned or another Estimator takes them.
struct WeightCell {
  const LayerImpl* layer = nullptr;  // the owner
  std::string name;                  // within the layer: "kernel"
  std::string first_value_key;       // names the random numbers of the first value
  uint64_t seed = 0;
  DType dtype = DType::kFloat32;
  Shape shape;
  bool trainable = true;  // also needs a trainable layer
  Initializer initializer;
  FirstValueFn first_value;  // if set, used instead of the initializer

  std::optional<HostTensor> value;  // nullopt: ask the holder, or else use the first value
  std::shared_ptr<WeightHolder> holder;
  uint64_t writes = 0;  // number of assignments of a value

  // Returns "dense/kernel".
  std::string FullName() const;
  absl::StatusOr<HostTensor> Value() const;
  absl::Status Assign(const HostTensor& value);
};

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_WEIGHT_CELL_H_
