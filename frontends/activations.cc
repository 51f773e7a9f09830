#include "frontends/activations.h"

#include "frontends/check.h"

namespace tandem {

Tensor LeakyRelu(const Tensor& x, double alpha, SourceLocation loc) {
  // Right for any alpha, where max(x, alpha x) is only right below 1. The slope at 0 is alpha, as in TensorFlow.
  Tensor scaled = Mul(x, alpha, loc);
  if (!scaled.ok()) return scaled;
  return Select(Greater(x, frontends::ScalarConstant(x.graph(), 0, x.dtype(), loc), loc), x, scaled, loc);
}

Tensor Relu6(const Tensor& x, SourceLocation loc) {
  Tensor positive = Relu(x, loc);
  if (!positive.ok()) return positive;
  // 6 comes first, so that it has the gradient where both are equal: the slope at 6 is 0, as in TensorFlow.
  return Minimum(frontends::ScalarConstant(x.graph(), 6, x.dtype(), loc), positive, loc);
}

Tensor Elu(const Tensor& x, SourceLocation loc) {
  // exp only sees the negative part: no overflow, and no infinity times zero in the gradient. At 0 the minimum hands
  // its gradient to x: the slope is 1.
  Tensor negative = Minimum(x, 0.0, loc);
  return Add(Relu(x, loc), Sub(Exp(negative, loc), 1.0, loc), loc);
}

Tensor Softplus(const Tensor& x, SourceLocation loc) {
  Tensor negative = Neg(x, loc);
  if (!negative.ok()) return negative;
  // max(x, 0) + log(1 + e^-|x|), with one choice for both parts: the slope at 0 is 1/2.
  Tensor zero = frontends::ScalarConstant(x.graph(), 0, x.dtype(), loc);
  Tensor positive = GreaterEqual(x, zero, loc);
  Tensor small = Exp(Select(positive, negative, x, loc), loc);
  return Add(Select(positive, x, zero, loc), Log(Add(small, 1.0, loc), loc), loc);
}

Tensor Swish(const Tensor& x, SourceLocation loc) { return Mul(x, Sigmoid(x, loc), loc); }

}  // namespace tandem
