// Batch and layer normalisation.
#include "absl/strings/str_cat.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/option_layer.h"
#include "frontends/layers.h"

namespace tandem::keras {
namespace layers {

template <typename V>
void Fields(V& v, BatchNormalizationOptions& o) {
  v.Axis("axis", o.axis);
  v.Field("momentum", o.momentum);
  v.Field("epsilon", o.epsilon);
  v.Field("center", o.center);
  v.Field("scale", o.scale);
  const Json zeros = PartToJson(initializers::Zeros().config(), "keras.initializers");
  const Json ones = PartToJson(initializers::Ones().config(), "keras.initializers");
  v.Unused("beta_initializer", zeros);
  v.Unused("gamma_initializer", ones);
  v.Unused("moving_mean_initializer", zeros);
  v.Unused("moving_variance_initializer", ones);
  v.Fixed("beta_regularizer", nullptr);
  v.Fixed("gamma_regularizer", nullptr);
  v.Fixed("beta_constraint", nullptr);
  v.Fixed("gamma_constraint", nullptr);
}

template <typename V>
void Fields(V& v, LayerNormalizationOptions& o) {
  v.Axis("axis", o.axis);
  v.Field("epsilon", o.epsilon);
  v.Field("center", o.center);
  v.Field("scale", o.scale);
  v.Unused("beta_initializer", PartToJson(initializers::Zeros().config(), "keras.initializers"));
  v.Unused("gamma_initializer", PartToJson(initializers::Ones().config(), "keras.initializers"));
  v.Fixed("beta_regularizer", nullptr);
  v.Fixed("gamma_regularizer", nullptr);
  v.Fixed("beta_constraint", nullptr);
  v.Fixed("gamma_constraint", nullptr);
}

}  // namespace layers

namespace {

// True if `axis` is the last axis of the input; records an error otherwise.
bool CheckNormAxis(const char* layer, int64_t axis, CallContext& c) {
  const int64_t rank = c.x().rank();
  if (axis == -1 || axis == rank - 1) return true;
  c.graph()->FailAt(layer,
                    absl::StrCat("`axis` is ", axis, " and must be the last one, ", rank - 1, ", of the input ",
                                 ShapeString(c.x().shape())),
                    c.loc());
  return false;
}

Tensor ComputeBatchNorm(const layers::BatchNormalizationOptions& o, CallContext& c) {
  if (!CheckNormAxis("BatchNormalization", o.axis, c)) return c.graph()->Poisoned();
  return tandem::layers::BatchNormalization(c.x(),
                                            {.momentum = o.momentum,
                                             .epsilon = o.epsilon,
                                             .center = o.center,
                                             .scale = o.scale,
                                             // A layer that is not trainable normalises with the moving averages, and
                                             // does not change them.
                                             .training = c.training() && c.trainable()},
                                            c.loc());
}

Tensor ComputeLayerNorm(const layers::LayerNormalizationOptions& o, CallContext& c) {
  if (!CheckNormAxis("LayerNormalization", o.axis, c)) return c.graph()->Poisoned();
  return tandem::layers::LayerNormalization(c.x(), {.epsilon = o.epsilon, .center = o.center, .scale = o.scale},
                                            c.loc());
}

constexpr LayerKind<layers::BatchNormalizationOptions> kBatchNorm{"BatchNormalization", ComputeBatchNorm};
constexpr LayerKind<layers::LayerNormalizationOptions> kLayerNorm{"LayerNormalization", ComputeLayerNorm};

}  // namespace

std::vector<LayerClass> NormLayerClasses() { return {ClassOf(kBatchNorm), ClassOf(kLayerNorm)}; }

namespace layers {

BatchNormalization::BatchNormalization(const BatchNormalizationOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kBatchNorm, options, loc)) {}
LayerNormalization::LayerNormalization(const LayerNormalizationOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kLayerNorm, options, loc)) {}

}  // namespace layers
}  // namespace tandem::keras
