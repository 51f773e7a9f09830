// Translates convolutions. Images are [b, h, w, c] and kernels [h, w, in, out] in both dialects.
#include <string>

#include "graph/ir/contract.h"
#include "passes/stablehlo/translators.h"

namespace tandem::stablehlo {
namespace {

using Pair = llvm::SmallVector<int64_t, 2>;  // for height and width

struct Convolution {
  std::string numbers = "conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>";
  Pair strides = {1, 1}, pad_low, pad_high;
  Pair dilation = {1, 1};  // of the image: the distance of its elements, with zeros between them
  bool reverses_kernel = false;
  int64_t groups = 1;
};

mlir::Value Convolve(mlir::Value x, mlir::Value kernel, const Convolution& c, mlir::Type type, Emitter& emit) {
  return emit.Op("convolution", {x, kernel}, type,
                 {emit.Named("window_strides", Ints(c.strides)), emit.Padding(c.pad_low, c.pad_high),
                  emit.Named("lhs_dilation", Ints(c.dilation)), emit.Flags("window_reversal", c.reverses_kernel, 2),
                  emit.Named("dimension_numbers", c.numbers), emit.Named("feature_group_count", c.groups),
                  emit.Named("batch_group_count", int64_t{1}), emit.FullPrecision()});
}

// `groups`: how many groups of input channels have output channels of their own.
template <typename Op>
mlir::Value Forward(Op op, int64_t groups, Lowering& lowering) {
  const Convolution convolution{.strides = Pair(op.getStrides()),
                                .pad_low = Pair(op.getPadLow()),
                                .pad_high = Pair(op.getPadHigh()),
                                .groups = groups};
  return Convolve(lowering.Get(op.getX()), lowering.Get(op.getKernel()), convolution, lowering.TypeFor(op.getOutput()),
                  lowering.emitter());
}

absl::StatusOr<mlir::Value> Conv2D(mlir::Operation* op, Lowering& lowering) {
  return Forward(mlir::cast<td::Conv2DOp>(op), 1, lowering);
}

absl::StatusOr<mlir::Value> DepthwiseConv2D(mlir::Operation* op, Lowering& lowering) {
  auto depthwise = mlir::cast<td::DepthwiseConv2DOp>(op);
  return Forward(depthwise, TypeOf(depthwise.getX()).getShape().back(), lowering);
}

// Translates the gradient to a convolution's input, by which a model may enlarge images: dy with zeros between its
// elements is convolved with the kernel turned round, whose inputs are its outputs.
absl::StatusOr<mlir::Value> Conv2DInputGrad(mlir::Operation* op, Lowering& lowering) {
  auto gradient = mlir::cast<td::Conv2DInputGradOp>(op);
  const mlir::RankedTensorType kernel = TypeOf(gradient.getKernel()), dy = TypeOf(gradient.getDy());
  Convolution convolution{.numbers = "conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>",
                          .dilation = Pair(gradient.getStrides()),
                          .reverses_kernel = true};
  for (int i = 0; i < 2; ++i) {
    const int64_t window = kernel.getDimSize(i);
    const int64_t spread = (dy.getDimSize(1 + i) - 1) * gradient.getStrides()[i] + 1;
    const int64_t before = window - 1 - gradient.getPadLow()[i];
    convolution.pad_low.push_back(before);
    convolution.pad_high.push_back(gradient.getSize()[i] + window - 1 - before - spread);
  }
  return Convolve(lowering.Get(gradient.getDy()), lowering.Get(gradient.getKernel()), convolution,
                  lowering.TypeFor(gradient), lowering.emitter());
}

}  // namespace

void AddConvolutions(TranslatorTable& table) {
  table["td.conv2d"] = Conv2D;
  table["td.depthwise_conv2d"] = DepthwiseConv2D;
  table["td.conv2d_input_grad"] = Conv2DInputGrad;
}

}  // namespace tandem::stablehlo
