// Data: the data for Fit, Evaluate and Predict: arrays, or a Dataset.
#ifndef TANDEM_ESTIMATOR_KERAS_DATA_H_
#define TANDEM_ESTIMATOR_KERAS_DATA_H_

#include <optional>
#include <string>
#include <vector>

#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/data/dataset.h"

namespace TANDEM_API tandem {
namespace keras {

// Arrays have one row for each example and are given by position: `xs` for the model's inputs, `ys` for its outputs.
//
// A Dataset must be batched. Its components go to the model's inputs by name. A model with one input takes the only
// component that is not a target or weight. The target of a model with one output is named "label" or "labels"; with
// several outputs, targets have the outputs' names. "sample_weight" has the weights of the examples.
class Data {
 public:
  Data() = default;
  Data(const Dataset& dataset) : dataset_(dataset) {}                                        // NOLINT: implicit
  Data(const HostTensor& x, const HostTensor& y = {}, const HostTensor& sample_weight = {})  // NOLINT: implicit
      : xs_{x}, weights_(sample_weight) {
    if (!y.empty() || !y.status().ok()) ys_.push_back(y);
  }
  Data(const std::vector<HostTensor>& xs, const std::vector<HostTensor>& ys, const HostTensor& sample_weight = {})
      : xs_(xs), ys_(ys), weights_(sample_weight) {}

  bool empty() const { return !dataset_.has_value() && xs_.empty(); }
  const std::optional<Dataset>& dataset() const { return dataset_; }
  const std::vector<HostTensor>& xs() const { return xs_; }
  const std::vector<HostTensor>& ys() const { return ys_; }
  const HostTensor& sample_weight() const { return weights_; }

 private:
  std::optional<Dataset> dataset_;
  std::vector<HostTensor> xs_, ys_;
  HostTensor weights_;
};

}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_KERAS_DATA_H_
