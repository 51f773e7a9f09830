// Computes gradients of a strided 1x1 convolution as those of a dense one over the pixels that the stride reaches
// (runtime/cpu/onednn/strided_pointwise.h).
//
// On an Intel Xeon with AMX, one thread, ResNet-50's six: input gradients at 61 to 118 instead of 42 to 93 GFLOP/s of
// oneDNN's kernels for strides (bfloat16: 143 to 255 instead of 61 to 167), filter gradients that are products at 70 to
// 100 instead of 50 to 86. A filter gradient that is not a product when it is dense gains nothing.
#include "passes/contraction/candidate.h"
#include "runtime/library_calls/library_algorithm.h"

namespace tandem {
namespace {

Weighing WeighDensePointwise(const format::LibraryCall& call, const CallContext& context) {
  const format::Conv2D& conv = *call.operation.As<format::Conv2D>();
  if (conv.direction == format::Direction::kInputGrad) return Profitable();
  return kPointwiseProduct.weigh_call(DensePointwiseCall(conv), context);
}

}  // namespace

extern const Candidate kDensePointwise = {exec::Algorithm::kDensePointwise, Lowering::kInCall, nullptr, nullptr,
                                          WeighDensePointwise};

}  // namespace tandem
