// Computes a 1x1 convolution without strides, or one of its gradients, as a matrix product over all pixels.
//
// On GPUs the op becomes a product. For float32 images in NHWC, cuDNN has only convolutions that round to
// TensorFloat-32 (RunConfig.tf32). Its other plans change the layout of both images around a convolution of NCHW, which
// writes and reads each of them once more. A product reads pixels as rows where they are, and more than half of
// ResNet-50's convolutions are of this kind. With TensorFloat-32 or bfloat16 no layout is changed, and whether a
// convolution or a product is faster has not been measured.
//
// On CPUs the library call of a filter gradient computes x^T dy if the gradient is large or wide. Rates in GFLOP/s on
// Zen 4 with one thread, by a product instead of a convolution, in float32: 97 to 98 instead of 86 to 88 for 256 x 1024
// and 1024 x 256 on 392 pixels, 87 instead of 65 for 64 x 256 on 6272 pixels. In bfloat16: 196 to 199 instead of 170 to
// 180 for the first two, and 150 by either for the third. For 256 x 64 the product is slower: 75 instead of 82.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/ir/build.h"
#include "graph/ir/contract.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/contraction/candidate.h"

namespace tandem {
namespace {

std::optional<Weighing> WeighPointwiseOp(const Contraction& c) {
  if (!mlir::isa<td::Conv2DOp, td::Conv2DInputGradOp, td::Conv2DFilterGradOp>(c.op) || !c.target.has_tf32()) {
    return std::nullopt;
  }
  const auto all = [](llvm::ArrayRef<int64_t> values, int64_t value) {
    return llvm::all_of(values, [value](int64_t v) { return v == value; });
  };
  llvm::ArrayRef<int64_t> size = td::TypeOf(c.spec.kernel).getShape().take_front(2);
  if (!all(size, 1)) return Unable(absl::StrCat("it has ", size[0] * size[1], " taps a channel"));
  if (!all(c.spec.strides, 1)) return Unable("it leaves out pixels");
  if (!all(c.spec.pad_low, 0) || !all(c.spec.pad_high, 0)) return Unable("it pads its images");
  if (!IsFloat32(c.op) || c.config.getTf32()) return NotProfitable("the library convolves NHWC as it lies");
  return Profitable();
}

mlir::LogicalResult LowerPointwiseOp(const Contraction& c, exec::ContractionAttr) {
  mlir::OpBuilder b(c.op);
  const mlir::Location loc = c.op->getLoc();
  const mlir::RankedTensorType kernel = td::TypeOf(c.spec.kernel);
  const mlir::RankedTensorType matrix = kernel.clone(kernel.getShape().drop_front(2));
  const auto multiply = [&](mlir::Value x, mlir::Value y, bool transpose_x, bool transpose_y) -> mlir::Value {
    return b.create<td::MatMulOp>(loc, x, y, transpose_x, transpose_y).getResult();
  };
  mlir::Value result;
  if (mlir::isa<td::Conv2DFilterGradOp>(c.op)) {
    result = td::BuildReshape(b, loc, multiply(c.spec.x, c.spec.y, true, false), kernel);
  } else {
    const bool backward = mlir::isa<td::Conv2DInputGradOp>(c.op);
    mlir::Value weights = td::BuildReshape(b, loc, c.spec.kernel, matrix);
    result = multiply(backward ? c.spec.y : c.spec.x, weights, false, backward);
  }
  c.op->getResult(0).replaceAllUsesWith(result);
  c.op->erase();
  return mlir::success();
}

Weighing WeighPointwiseCall(const format::LibraryCall& call, const CallContext& context) {
  constexpr int64_t kMinElements = 1 << 18, kMinColumns = 32;
  const std::vector<int64_t>& kernel = call.operation.As<format::Conv2D>()->kernel_shape;
  const int64_t in = kernel[2], out = kernel[3];
  if (in * out < kMinElements && (out < 4 * in || in < kMinColumns)) {
    return NotProfitable(absl::StrCat("a gradient of ", in, " x ", out, " is neither large nor wide"));
  }
  const absl::StatusOr<std::string> name = context.library.ImplementationOf(call);
  if (!name.ok()) return NotProfitable(std::string(name.status().message()));
  // The library's reference kernels are slower by orders of magnitude.
  return absl::StrContains(*name, "ref") ? NotProfitable(absl::StrCat("the library has only ", *name)) : Profitable();
}

}  // namespace

const Candidate kPointwiseProduct = {exec::Algorithm::kPointwiseProduct, Lowering::kBeforeMaps, WeighPointwiseOp,
                                     LowerPointwiseOp, WeighPointwiseCall};

}  // namespace tandem
