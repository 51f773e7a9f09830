// WeightOwner: owns the weights of layers whose weights do not belong to one call in one graph. Internal to frontends/.
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

// A weight that a layer asks for.
struct WeightRequest {
  std::string name;  // within the layer: "kernel", "query/kernel"
  DType dtype = DType::kFloat32;
  Shape shape;
  initializers::InitializerFn initializer;
  bool trainable = true;
  Regularizer regularizer;
  SourceLocation loc;
};

// Provides layers with the weights of an object that is called several times, in one graph or many.
class WeightOwner {
 public:
  virtual ~WeightOwner() = default;
  // Returns the name part that the next layer, whose default name is `base`, gets in the name scope and in names of
  // weights; empty if the owner is that layer.
  virtual std::string NestedName(absl::string_view base) = 0;
  // Returns the weight's value in `graph`. `nested` is the result of NestedName.
  virtual Tensor Weight(GraphBuilder* graph, const std::string& nested, WeightRequest request) = 0;

  // Returns the owner of the weights of layers that this thread now calls on tensors of `graph`; null: there is none.
  static WeightOwner* Of(GraphBuilder* graph);
};

// Makes `owner` the owner for `graph` during its lifetime.
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
