// Servable: a loaded version of a model, as the server sees it.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_SERVABLE_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_SERVABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/named_tensors.h"
#include "estimator/serving/tensor_signature.h"

namespace tandem::serving {

class Servable {
 public:
  virtual ~Servable() = default;
  virtual const std::vector<TensorSignature>& inputs() const = 0;
  virtual const std::vector<TensorSignature>& outputs() const = 0;
  // The rows that its program computes at once.
  virtual int64_t rows_per_step() const = 0;
  // As Model::Predict. Thread-safe.
  virtual absl::StatusOr<NamedTensors> Predict(const NamedTensors& inputs) = 0;
};

// Loads the exported model at a path.
using LoadServable = std::function<absl::StatusOr<std::unique_ptr<Servable>>(const std::string& path)>;

// Loads by LoadModel, with so many threads for each model, and predicts once with rows of zeros, so that the first
// requests take no longer than others.
LoadServable ExportedModels(int threads);

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_SERVABLE_H_
