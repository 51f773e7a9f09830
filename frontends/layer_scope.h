// Helpers for layers: a unique name, a name scope, variables. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_LAYER_SCOPE_H_
#define TANDEM_FRONTENDS_LAYER_SCOPE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "frontends/initializers.h"
#include "frontends/regularizers.h"
#include "frontends/weight_owner.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::layers {

// One call of a layer on `x`. If the input is valid, the layer's name scope is active during the lifetime of this
// object.
class LayerScope {
 public:
  // `layer` is the layer's class ("Conv2D"), `base` its default name ("conv2d"), and `name` the name that the user set,
  // or empty. `x` must be a floating-point tensor of a graph, with known sizes except the batch, and have rank `rank`
  // (0: at least 1). With `takes_indices`, x is an int32 or int64 tensor instead, and the layer's variables are
  // float32.
  LayerScope(const Tensor& x, absl::string_view layer, absl::string_view base, const std::string& name, int rank,
             SourceLocation loc, bool takes_indices = false);

  // False when an error was recorded, or x is the result of an op with an error: the layer must return Failed().
  bool ok() const { return graph_ != nullptr; }
  GraphBuilder* graph() const { return graph_; }
  Tensor Failed() const { return failed_; }

  // Records an error that names the layer; `ok()` is false from then on.
  Tensor Fail(absl::string_view message);
  // Records an error unless `value` is at least 1 and at most a generous limit.
  bool CheckPositive(absl::string_view option, int64_t value);

  // Returns a variable of this layer with x's type. Its name may have several parts: "query/kernel".
  Tensor Weight(absl::string_view name, Shape shape, const initializers::InitializerFn& initializer, bool trainable,
                const Regularizer& regularizer = {});

 private:
  std::string layer_;
  SourceLocation loc_;
  DType dtype_ = DType::kInvalid;
  Tensor failed_;
  GraphBuilder* graph_ = nullptr;  // must follow failed_, because its initialiser assigns failed_
  WeightOwner* owner_ = nullptr;   // owner of the weights; null if they belong to this call
  std::string nested_;             // the name that the owner has assigned to this layer
  std::optional<NameScope> scope_;
};

}  // namespace tandem::layers

#endif  // TANDEM_FRONTENDS_LAYER_SCOPE_H_
