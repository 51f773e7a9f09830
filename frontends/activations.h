// Activation functions: what a layer's `.activation` takes.
#ifndef TANDEM_FRONTENDS_ACTIVATIONS_H_
#define TANDEM_FRONTENDS_ACTIVATIONS_H_

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include "base/source_location.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"
#include "graph/tensor.h"

namespace tandem {

// Any function from a tensor to a tensor, with or without a SourceLocation: `Relu`, `Softmax`, a lambda. Empty: linear.
class Activation {
 public:
  Activation() = default;
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, Activation> &&
           std::is_invocable_r_v<Tensor, F, const Tensor&, SourceLocation>) Activation(F&& function)
      : null_(IsNull(function)), function_(std::forward<F>(function)) {}  // NOLINT: implicit
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, Activation> && std::is_invocable_r_v<Tensor, F, const Tensor&> &&
           !std::is_invocable_r_v<Tensor, F, const Tensor&, SourceLocation>)
      Activation(F&& function)  // NOLINT: implicit
      : null_(IsNull(function)),
        function_([f = std::forward<F>(function)](const Tensor& x, SourceLocation) { return f(x); }) {}

  Tensor operator()(const Tensor& x, SourceLocation loc = SourceLocation::Current()) const {
    if (null_ && x.ok()) return x.graph()->FailAt("Activation", "the function is null", loc);
    return function_ && !null_ ? function_(x, loc) : x;
  }

 private:
  // Of what may be null: pointers, and objects such as std::function.
  template <typename F>
  static bool IsNull(const F& function) {
    if constexpr (std::is_pointer_v<F> || (std::is_class_v<F> && requires { function == nullptr; })) {
      return function == nullptr;
    }
    return false;
  }

  bool null_ = false;
  std::function<Tensor(const Tensor&, SourceLocation)> function_;
};

// Besides Relu, Sigmoid, Tanh and Softmax of graph/ops.h. Elementwise, floating point.
Tensor LeakyRelu(const Tensor& x, double alpha = 0.2, SourceLocation loc = SourceLocation::Current());
Tensor Relu6(const Tensor& x, SourceLocation loc = SourceLocation::Current());
Tensor Elu(const Tensor& x, SourceLocation loc = SourceLocation::Current());       // x < 0: e^x - 1
Tensor Softplus(const Tensor& x, SourceLocation loc = SourceLocation::Current());  // log(1 + e^x), without overflow
Tensor Swish(const Tensor& x, SourceLocation loc = SourceLocation::Current());     // x sigmoid(x)

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_ACTIVATIONS_H_
