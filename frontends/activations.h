// Activation functions, for the option `.activation` of layers.
#ifndef TANDEM_FRONTENDS_ACTIVATIONS_H_
#define TANDEM_FRONTENDS_ACTIVATIONS_H_

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/graph/graph_builder.h"
#include "tandem/graph/ops.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {

// A function from a tensor to a tensor, with or without a SourceLocation argument (`Relu`, `Softmax`, a lambda), or the
// Keras name of such a function ("relu", "softmax"). An empty Activation is linear.
class Activation {
 public:
  // The type of the functions of graph/ops.h.
  using Function = Tensor (*)(const Tensor&, SourceLocation);

  Activation() = default;
  // By name: linear, relu, sigmoid, tanh, softmax, elu, selu, softplus, softsign, swish, gelu, hard_sigmoid, mish and
  // exponential of Keras 2.15; silu (swish), relu6, leaky_relu and log_softmax, which only Keras 3 knows; the classes
  // ReLU, ELU, LeakyReLU and Softmax. With another name, calling the activation is an error with the caller's line.
  Activation(const char* name);         // NOLINT: implicit
  Activation(const std::string& name);  // NOLINT: implicit
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, Activation> &&
           std::is_invocable_r_v<Tensor, F, const Tensor&, SourceLocation>)
      Activation(F&& function)  // NOLINT: implicit
      : name_(NameOf(function)), problem_(ProblemOf(function)), function_(std::forward<F>(function)) {}
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, Activation> && std::is_invocable_r_v<Tensor, F, const Tensor&> &&
           !std::is_invocable_r_v<Tensor, F, const Tensor&, SourceLocation>)
      Activation(F&& function)  // NOLINT: implicit
      : name_(),
        problem_(ProblemOf(function)),
        function_([f = std::forward<F>(function)](const Tensor& x, SourceLocation) { return f(x); }) {}

  // Applies the function; errors are recorded in the graph, with the caller's line.
  Tensor operator()(const Tensor& x, SourceLocation loc = SourceLocation::Current()) const {
    if (!problem_.empty() && x.ok()) return x.graph()->FailAt("Activation", problem_, loc);
    return function_ && problem_.empty() ? function_(x, loc) : x;
  }

  // Keras' name; "linear" for an empty activation; "" for a function that Keras has no name for, such as a lambda or
  // GeluTanh. An activation that was given by another name, or as one of Tandem's functions, has Keras 2.15's name, if
  // there is one.
  const std::string& name() const { return name_; }
  // InvalidArgument for an unknown name and for a null function, with the same text as the error of the call.
  absl::Status status() const;

 private:
  // Returns the text of an error if the function is null, otherwise "". Only some types of functions can be null:
  // pointers, and objects such as std::function.
  template <typename F>
  static const char* ProblemOf(const F& function) {
    if constexpr (std::is_pointer_v<F> || (std::is_class_v<F> && requires { function == nullptr; })) {
      if (function == nullptr) return "the function is null";
    }
    return "";
  }
  template <typename F>
  static std::string NameOf(const F& function) {
    if constexpr (std::is_same_v<std::decay_t<const F&>, Function>) {
      return NameOfFunction(function);
    }
    return "";
  }
  static std::string NameOfFunction(Function function);

  std::string name_ = "linear";
  std::string problem_;
  std::function<Tensor(const Tensor&, SourceLocation)> function_;
};

// These activations complete Relu, Sigmoid, Tanh and Softmax of graph/ops.h. All act elementwise on floating-point
// tensors.

// x for x >= 0, alpha x for x < 0.
Tensor LeakyRelu(const Tensor& x, double alpha = 0.2, SourceLocation loc = SourceLocation::Current());
Tensor Relu6(const Tensor& x, SourceLocation loc = SourceLocation::Current());     // min(max(x, 0), 6)
Tensor Elu(const Tensor& x, SourceLocation loc = SourceLocation::Current());       // x for x >= 0, e^x - 1 for x < 0
Tensor Softplus(const Tensor& x, SourceLocation loc = SourceLocation::Current());  // log(1 + e^x), without overflow
Tensor Swish(const Tensor& x, SourceLocation loc = SourceLocation::Current());     // x sigmoid(x)
// Klambauer et al. 2017: 1.0507 x for x >= 0, else 1.0507 * 1.67326 (e^x - 1), with more digits in the constants.
Tensor Selu(const Tensor& x, SourceLocation loc = SourceLocation::Current());
Tensor Softsign(const Tensor& x, SourceLocation loc = SourceLocation::Current());  // x / (1 + |x|)
Tensor Mish(const Tensor& x, SourceLocation loc = SourceLocation::Current());      // x tanh(log(1 + e^x)); Misra 2019
// 0.2 x + 0.5, clipped to [0, 1], as in Keras 2; Keras 3 divides by 6.
Tensor HardSigmoid(const Tensor& x, SourceLocation loc = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_ACTIVATIONS_H_
