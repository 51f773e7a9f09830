#include "frontends/activations.h"

#include <vector>

#include "frontends/check.h"
#include "frontends/config_reader.h"

namespace tandem {
namespace {

Tensor LeakyReluOfName(const Tensor& x, SourceLocation loc) { return LeakyRelu(x, 0.2, loc); }
Tensor LeakyReluOfClass(const Tensor& x, SourceLocation loc) { return LeakyRelu(x, 0.3, loc); }

struct NamedActivation {
  const char* name;
  Activation::Function function;
};

// If a function has several names, the first entry with that function has Keras' own name for it.
constexpr NamedActivation kNamedActivations[] = {
    {"linear", nullptr},
    {"relu", Relu},
    {"sigmoid", Sigmoid},
    {"tanh", Tanh},
    {"softmax", Softmax},
    {"elu", Elu},
    {"selu", Selu},
    {"softplus", Softplus},
    {"softsign", Softsign},
    {"swish", Swish},
    {"gelu", Gelu},
    {"hard_sigmoid", HardSigmoid},
    {"mish", Mish},
    {"exponential", Exp},
    {"silu", Swish},
    {"relu6", Relu6},
    {"leaky_relu", LeakyReluOfName},
    {"log_softmax", LogSoftmax},
    {"ReLU", Relu},
    {"ELU", Elu},
    {"LeakyReLU", LeakyReluOfClass},
    {"Softmax", Softmax},
};

}  // namespace

Activation::Activation(const char* name) : Activation(name == nullptr ? std::string() : std::string(name)) {}

Activation::Activation(const std::string& name) {
  std::vector<std::string> names;
  for (const NamedActivation& known : kNamedActivations) {
    names.push_back(known.name);
    if (name != known.name) continue;
    name_ = known.function == nullptr ? name : NameOfFunction(known.function);
    function_ = known.function;
    return;
  }
  name_ = "";
  problem_ = frontends::UnknownName("activation", name, names);
}

std::string Activation::NameOfFunction(Function function) {
  for (const NamedActivation& known : kNamedActivations) {
    if (function != nullptr && known.function == function) return known.name;
  }
  return "";
}

absl::Status Activation::status() const {
  return problem_.empty() ? absl::OkStatus() : absl::InvalidArgumentError(problem_);
}

Tensor LeakyRelu(const Tensor& x, double alpha, SourceLocation loc) {
  // The selection is correct for any alpha, while max(x, alpha x) would be correct only for alpha below 1. The slope at
  // 0 is alpha, as in TensorFlow.
  Tensor scaled = Mul(x, alpha, loc);
  if (!scaled.ok()) return scaled;
  return Select(Greater(x, frontends::ScalarConstant(x.graph(), 0, x.dtype(), loc), loc), x, scaled, loc);
}

Tensor Relu6(const Tensor& x, SourceLocation loc) {
  Tensor positive = Relu(x, loc);
  if (!positive.ok()) return positive;
  // 6 is the first operand, so that it gets the gradient where both are equal: the slope at 6 is 0, as in TensorFlow.
  return Minimum(frontends::ScalarConstant(x.graph(), 6, x.dtype(), loc), positive, loc);
}

Tensor Elu(const Tensor& x, SourceLocation loc) {
  // exp is only applied to the negative part, so that it cannot overflow, and its gradient is never infinity times
  // zero. At 0 the gradient of Minimum goes to x, so the slope there is 1.
  Tensor negative = Minimum(x, 0.0, loc);
  return Add(Relu(x, loc), Sub(Exp(negative, loc), 1.0, loc), loc);
}

Tensor Softplus(const Tensor& x, SourceLocation loc) {
  Tensor negative = Neg(x, loc);
  if (!negative.ok()) return negative;
  // The result is max(x, 0) + log(1 + e^-|x|). Both parts use the same condition, x >= 0, so that the slope at 0 is
  // 1/2.
  Tensor zero = frontends::ScalarConstant(x.graph(), 0, x.dtype(), loc);
  Tensor positive = GreaterEqual(x, zero, loc);
  Tensor small = Exp(Select(positive, negative, x, loc), loc);
  return Add(Select(positive, x, zero, loc), Log(Add(small, 1.0, loc), loc), loc);
}

Tensor Swish(const Tensor& x, SourceLocation loc) { return Mul(x, Sigmoid(x, loc), loc); }

Tensor Selu(const Tensor& x, SourceLocation loc) {
  // SELU's constants, for which mean 0 and variance 1 is a fixed point: theorem 1 of Klambauer et al. 2017,
  // "Self-Normalizing Neural Networks".
  constexpr double kScale = 1.05070098735548049342, kAlpha = 1.67326324235437728482;
  Tensor negative = Minimum(x, 0.0, loc);
  if (!negative.ok()) return negative;
  Tensor below = Mul(Sub(Exp(negative, loc), 1.0, loc), kScale * kAlpha, loc);
  Tensor zero = frontends::ScalarConstant(x.graph(), 0, x.dtype(), loc);
  return Select(GreaterEqual(x, zero, loc), Mul(x, kScale, loc), below, loc);
}

Tensor Softsign(const Tensor& x, SourceLocation loc) { return Div(x, Add(Abs(x, loc), 1.0, loc), loc); }

Tensor Mish(const Tensor& x, SourceLocation loc) { return Mul(x, Tanh(Softplus(x, loc), loc), loc); }

Tensor HardSigmoid(const Tensor& x, SourceLocation loc) {
  return ClipByValue(Add(Mul(x, 0.2, loc), 0.5, loc), 0, 1, loc);
}

}  // namespace tandem
