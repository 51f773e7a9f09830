// Layers of elementwise functions, and Lambda.
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontends/activations.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/option_layer.h"
#include "graph/ops.h"

namespace tandem::keras {
namespace layers {

struct ActivationFields {
  tandem::Activation activation;
  std::string name;
  Shape input_shape;
};

template <typename V>
void Fields(V& v, ActivationFields& o) {
  v.Field("activation", o.activation);
}
template <typename V>
void Fields(V& v, ReLUOptions& o) {
  v.Field("max_value", o.max_value);
  v.Field("negative_slope", o.negative_slope);
  v.Field("threshold", o.threshold);
}
template <typename V>
void Fields(V& v, LeakyReLUOptions& o) {
  v.Field("alpha", o.alpha);
}
template <typename V>
void Fields(V& v, ELUOptions& o) {
  v.Field("alpha", o.alpha);
}
template <typename V>
void Fields(V& v, SoftmaxOptions& o) {
  v.Field("axis", o.axis);
}
template <typename V>
void Fields(V& v, RescalingOptions& o) {
  v.Field("scale", o.scale);
  v.Field("offset", o.offset);
}

}  // namespace layers

namespace {

Tensor ComputeActivation(const layers::ActivationFields& o, CallContext& c) { return o.activation(c.x(), c.loc()); }

// Where x equals max_value or threshold, the gradient is that of the piece below that point, as in TensorFlow.
Tensor ComputeReLU(const layers::ReLUOptions& o, CallContext& c) {
  const bool good = std::isfinite(o.negative_slope) && o.negative_slope >= 0 && std::isfinite(o.threshold) &&
                    o.threshold >= 0 && o.max_value.value_or(0) >= 0 && std::isfinite(o.max_value.value_or(0));
  if (!good) {
    return c.graph()->FailAt("ReLU", "`max_value`, `negative_slope` and `threshold` must be finite and not negative",
                             c.loc());
  }
  const Tensor& x = c.x();
  const SourceLocation loc = c.loc();
  if (o.threshold == 0 && o.negative_slope == 0) {
    if (!o.max_value.has_value()) return Relu(x, loc);
    if (*o.max_value == 6) return Relu6(x, loc);
  }
  const Tensor zero = ZerosLike(x, loc);
  Tensor kept = o.threshold == 0 ? Relu(x, loc) : Select(Greater(x, o.threshold, loc), x, zero, loc);
  if (o.max_value.has_value()) kept = Select(Less(kept, *o.max_value, loc), kept, FullLike(x, *o.max_value, loc), loc);
  if (o.negative_slope == 0) return kept;
  // The part below the threshold is added after the clipping to max_value, which must not affect it.
  return Add(kept, Mul(Minimum(Sub(x, o.threshold, loc), 0.0, loc), o.negative_slope, loc), loc);
}

Tensor ComputeLeakyReLU(const layers::LeakyReLUOptions& o, CallContext& c) {
  if (!std::isfinite(o.alpha)) return c.graph()->FailAt("LeakyReLU", "`alpha` must be finite", c.loc());
  return LeakyRelu(c.x(), o.alpha, c.loc());
}

Tensor ComputeELU(const layers::ELUOptions& o, CallContext& c) {
  if (!std::isfinite(o.alpha)) return c.graph()->FailAt("ELU", "`alpha` must be finite", c.loc());
  if (o.alpha == 1) return Elu(c.x(), c.loc());
  const Tensor negative = Minimum(c.x(), 0.0, c.loc());
  return Select(Greater(c.x(), 0.0, c.loc()), c.x(), Mul(Sub(Exp(negative, c.loc()), 1.0, c.loc()), o.alpha, c.loc()),
                c.loc());
}

Tensor ComputeSoftmax(const layers::SoftmaxOptions& o, CallContext& c) {
  if (o.axis != -1 && o.axis != c.x().rank() - 1) {
    return c.graph()->FailAt(
        "Softmax", absl::StrCat("`axis` is ", o.axis, " and must be the last one of ", ShapeString(c.x().shape())),
        c.loc());
  }
  return tandem::Softmax(c.x(), c.loc());
}

Tensor ComputeRescaling(const layers::RescalingOptions& o, CallContext& c) {
  const Tensor x = c.x().dtype() == DType::kFloat64 ? c.x() : Cast(c.x(), DType::kFloat32, c.loc());
  return tandem::Add(Mul(x, o.scale, c.loc()), o.offset, c.loc());
}

constexpr LayerKind<layers::ActivationFields> kActivation{"Activation", ComputeActivation};
constexpr LayerKind<layers::ReLUOptions> kReLU{"ReLU", ComputeReLU};
constexpr LayerKind<layers::LeakyReLUOptions> kLeakyReLU{"LeakyReLU", ComputeLeakyReLU};
constexpr LayerKind<layers::ELUOptions> kELU{"ELU", ComputeELU};
constexpr LayerKind<layers::SoftmaxOptions> kSoftmax{"Softmax", ComputeSoftmax};
constexpr LayerKind<layers::RescalingOptions> kRescaling{"Rescaling", ComputeRescaling};

// A layer that applies a user's function.
class LambdaImpl : public LayerImpl {
 public:
  LambdaImpl(std::function<Tensor(const std::vector<Tensor>&)> function, bool several, LayerNaming naming,
             SourceLocation loc)
      : LayerImpl(std::move(naming), loc), function_(std::move(function)), several_(several) {}

  absl::StatusOr<nlohmann::ordered_json> Config() const override {
    return absl::InvalidArgumentError("a file cannot have a function; save the weights alone, or use another layer");
  }

 protected:
  std::vector<Tensor> Compute(CallContext& context) override {
    if (function_ == nullptr) {
      return {context.graph()->FailAt("Lambda", "the function is null", context.loc())};
    }
    return {function_(context.inputs())};
  }
  int max_inputs() const override { return several_ ? kAnyNumber : 1; }
  bool has_parts() const override { return true; }

 private:
  const std::function<Tensor(const std::vector<Tensor>&)> function_;
  const bool several_;
};

std::function<Tensor(const std::vector<Tensor>&)> OfOne(std::function<Tensor(const Tensor&)> function) {
  if (function == nullptr) return nullptr;
  return [function = std::move(function)](const std::vector<Tensor>& xs) { return function(xs[0]); };
}

}  // namespace

std::vector<LayerClass> ActivationLayerClasses() {
  return {ClassOf(kActivation), ClassOf(kReLU),    ClassOf(kLeakyReLU),
          ClassOf(kELU),        ClassOf(kSoftmax), ClassOf(kRescaling)};
}

namespace layers {

Activation::Activation(const tandem::Activation& activation, const NameOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kActivation, ActivationFields{activation, options.name, options.input_shape}, loc)) {}
ReLU::ReLU(const ReLUOptions& options, SourceLocation loc) : Layer(MakeLayer(kReLU, options, loc)) {}
LeakyReLU::LeakyReLU(const LeakyReLUOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kLeakyReLU, options, loc)) {}
ELU::ELU(const ELUOptions& options, SourceLocation loc) : Layer(MakeLayer(kELU, options, loc)) {}
Softmax::Softmax(const SoftmaxOptions& options, SourceLocation loc) : Layer(MakeLayer(kSoftmax, options, loc)) {}
Rescaling::Rescaling(const RescalingOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kRescaling, options, loc)) {}
Lambda::Lambda(std::function<Tensor(const Tensor&)> function, const NameOptions& options, SourceLocation loc)
    : Layer(std::make_shared<LambdaImpl>(
          OfOne(std::move(function)), false,
          LayerNaming{.class_name = "Lambda", .name = options.name, .input_shape = options.input_shape}, loc)) {}
Lambda::Lambda(std::function<Tensor(const std::vector<Tensor>&)> function, const NameOptions& options,
               SourceLocation loc)
    : Layer(std::make_shared<LambdaImpl>(
          std::move(function), true,
          LayerNaming{.class_name = "Lambda", .name = options.name, .input_shape = options.input_shape}, loc)) {}

}  // namespace layers
}  // namespace tandem::keras
