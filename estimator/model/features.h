// Features: the components of the input that a model_fn computes from, by name.
#ifndef TANDEM_ESTIMATOR_MODEL_FEATURES_H_
#define TANDEM_ESTIMATOR_MODEL_FEATURES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/data/element.h"
#include "tandem/graph/graph_builder.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {

// Works like a map: features["image"] is the batched tensor [b, ...] of the dataset's component "image". A component
// that is never asked for does not become an input of the program.
class Features {
 public:
  Features(GraphBuilder* graph, std::vector<ComponentSpec> components)
      : of_graph_(graph != nullptr ? graph->Poisoned() : Tensor()), components_(std::move(components)) {}

  // Returns a poisoned tensor (using it is an error) for an unknown name; the graph then has an error that lists the
  // known names. Also poisoned if the graph is gone because its Estimator has ended.
  Tensor operator[](NameArg name) const;
  // True if there is a component of this name.
  bool Has(absl::string_view name) const;
  // The names of all components.
  std::vector<std::string> names() const;
  // The graph that the model_fn builds, for ops that have no operand. Null if it is gone.
  GraphBuilder* graph() const { return of_graph_.graph(); }

 private:
  Tensor of_graph_;  // a tensor of the graph, which tells whether the graph is gone
  std::vector<ComponentSpec> components_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_FEATURES_H_
