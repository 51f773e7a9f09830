// td-expand-small-convolution: leaves convolutions of few taps to generated kernels.
//
// A 3x3 convolution of a grey image does nine multiply-adds per output: less than it costs to write the output and to
// read it again for the pooling behind it. As part of a generated kernel it fuses with bias, relu and pooling, and its
// filter gradient with what makes the output's gradient, so that neither is ever stored. Before: convolutions that no
// library has taken yet. After: those over at most 16 taps (kernel height x width x input channels) and a batch are
// direct ones, and so are forward ones over pictures of at most 4 channels and at most 160 taps, which
// td-outline-direct-convolutions gives kernels of their own. Programs for GPUs leave them all to cuDNN: a generated
// kernel would have one thread sum a filter gradient over all pixels of many images. The gradient to such a
// convolution's input stays with the library: the input of a first layer has none.
//
//   %y = td.conv2d %x, %k                   =>   %y = td.direct_conv2d %x, %k
//   %dk = td.conv2d_filter_grad %x, %dy     =>   %dk = td.direct_conv2d_filter_grad %dy, %x
#include "passes/expand_small_convolution.h"

#include "graph/ir/contract.h"
#include "passes/pass_util.h"
#include "passes/small_convolution.h"
#include "passes/target.h"

namespace tandem {
namespace {

// All of the op is float32: of a bfloat16 image a library makes a float32 gradient, a kernel does not.
// td-paint-precision leaves these ops float32.
bool IsTaken(mlir::Operation* op) {
  auto is_float32 = [](mlir::Type type) { return mlir::getElementTypeOrSelf(type).isF32(); };
  return (IsSmallConvolution(op) || IsPictureConvolution(op)) && llvm::all_of(op->getOperandTypes(), is_float32) &&
         llvm::all_of(op->getResultTypes(), is_float32);
}

class ExpandSmallConvolutionPass : public ModulePass<ExpandSmallConvolutionPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandSmallConvolutionPass)
  static constexpr llvm::StringLiteral kName = "td-expand-small-convolution";
  static constexpr llvm::StringLiteral kDescription = "leave convolutions of few taps to generated kernels";

  void runOnOperation() final {
    if (IsGpuTarget(getOperation())) return;
    getOperation().walk([](td::Conv2DOp op) {
      if (!IsTaken(op)) return;
      mlir::OpBuilder b(op);
      op.replaceAllUsesWith(b.create<td::DirectConv2DOp>(op.getLoc(), op.getX(), op.getKernel(), op.getStrides(),
                                                         op.getPadLow(), op.getPadHigh())
                                .getResult());
      op.erase();
    });
    getOperation().walk([](td::Conv2DFilterGradOp op) {
      if (!IsTaken(op)) return;
      mlir::OpBuilder b(op);
      op.replaceAllUsesWith(b.create<td::DirectConv2DFilterGradOp>(op.getLoc(), op.getDy(), op.getX(), op.getSize(),
                                                                   op.getStrides(), op.getPadLow(), op.getPadHigh())
                                .getResult());
      op.erase();
    });
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createExpandSmallConvolutionPass() {
  return std::make_unique<ExpandSmallConvolutionPass>();
}

}  // namespace tandem
