// WeightOwner: owns the weights of layers that are called several times, so that the weights do not belong to one call
// in one graph. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_WEIGHT_OWNER_H_
#define TANDEM_FRONTENDS_WEIGHT_OWNER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "base/dtype.h"
#include "base/source_location.h"
#include "frontends/initializers.h"
#include "frontends/regularizers.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::layers {

// A weight that a layer requests from its owner.
struct WeightRequest {
  std::string name;  // name within the layer: "kernel", "query/kernel"
  DType dtype = DType::kFloat32;
  Shape shape;
  initializers::InitializerFn initializer;
  bool trainable = true;
  Regularizer regularizer;
  SourceLocation loc;
};

// Provides layers with the weights of an object, such as a keras::Layer, that is called several times, in one graph or
// in many.
class WeightOwner {
 public:
  virtual ~WeightOwner() = default;
  // Returns the name that the next called layer, whose default name is `base`, gets within the owner, for the name
  // scope and the names of weights. Empty if the owner is that layer itself.
  virtual std::string NestedName(absl::string_view base) = 0;
  // Returns the weight's value in `graph`. `nested` is the result of NestedName.
  virtual Tensor Weight(GraphBuilder* graph, const std::string& nested, WeightRequest request) = 0;

  // Returns the owner that provides the weights of layers which this thread calls on tensors of `graph`; null if there
  // is none.
  static WeightOwner* Of(GraphBuilder* graph);
};

// Makes `owner` the owner for layers called on tensors of `graph`, during the lifetime of this object.
class WeightOwnerScope {
 public:
  WeightOwnerScope(GraphBuilder* graph, WeightOwner* owner);
  ~WeightOwnerScope();
  WeightOwnerScope(const WeightOwnerScope&) = delete;
  WeightOwnerScope& operator=(const WeightOwnerScope&) = delete;

 private:
  friend class WeightOwner;
  GraphBuilder* const graph_;
  WeightOwner* const owner_;
  WeightOwnerScope* const outer_;
};

}  // namespace tandem::layers

#endif  // TANDEM_FRONTENDS_WEIGHT_OWNER_H_
