#include "frontends/activations.h"

namespace tandem {

Tensor LeakyRelu(const Tensor& x, double alpha, SourceLocation loc) {
  // relu(x) - alpha relu(-x): right for any alpha, where max(x, alpha x) is only right below 1.
  return Sub(Relu(x, loc), Mul(Relu(Neg(x, loc), loc), alpha, loc), loc);
}

Tensor Relu6(const Tensor& x, SourceLocation loc) { return Minimum(Relu(x, loc), 6.0, loc); }

Tensor Elu(const Tensor& x, SourceLocation loc) {
  // exp only sees the negative part: no overflow, and no infinity times zero in the gradient.
  Tensor negative = Minimum(x, 0.0, loc);
  return Add(Relu(x, loc), Sub(Exp(negative, loc), 1.0, loc), loc);
}

Tensor Softplus(const Tensor& x, SourceLocation loc) {
  return Add(Relu(x, loc), Log(Add(Exp(Neg(Abs(x, loc), loc), loc), 1.0, loc), loc), loc);
}

Tensor Swish(const Tensor& x, SourceLocation loc) { return Mul(x, Sigmoid(x, loc), loc); }

}  // namespace tandem
