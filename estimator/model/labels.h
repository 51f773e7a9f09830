// Labels: the components of the input that a model_fn compares its results with, one or several by name.
#ifndef TANDEM_ESTIMATOR_MODEL_LABELS_H_
#define TANDEM_ESTIMATOR_MODEL_LABELS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/estimator/model/features.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {

// If the input has one component of labels, a Labels is that tensor. If it has several (InputSpec.labels),
// labels["price"] is one of them, as with Features, and using the Labels itself as a tensor is an error that lists
// them.
class Labels {
 public:
  // `only` is the tensor to which this object converts.
  Labels(GraphBuilder* graph, std::vector<ComponentSpec> components, Tensor only)
      : by_name_(graph, std::move(components)), only_(std::move(only)) {}
  // Makes a Labels that is one tensor without a name.
  Labels(Tensor only) : by_name_(only.graph(), {}), only_(std::move(only)) {}  // NOLINT: as a Tensor is passed on

  operator const Tensor&() const { return only_; }  // NOLINT: most models have one
  // Returns a poisoned tensor (using it is an error) for an unknown name, and in mode predict; the graph then has an
  // error that says so.
  Tensor operator[](NameArg name) const;
  // True if there is a label of this name.
  bool Has(absl::string_view name) const { return by_name_.Has(name); }
  // The names of the labels.
  std::vector<std::string> names() const { return by_name_.names(); }

 private:
  Features by_name_;
  Tensor only_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_LABELS_H_
