// Convolutions inside generated kernels: types, reference semantics and scalar code.
#include "passes/exec/direct.h"

#include "graph/ir/window.h"
#include "passes/exec/algorithm.h"

#define GET_OP_CLASSES
#include "passes/exec/direct.cc.inc"

namespace tandem::exec {

using td::BatchRule;
using td::Conv2DFilterGradOp;
using td::Conv2DOp;
using td::ElementalContext;
using td::RefContext;
using td::RefTensor;
using td::RowElements;
using td::TypeOf;
using td::WindowEmitter;

void ExecDialect::registerDirectOps() {
  addOperations<
#define GET_OP_LIST
#include "passes/exec/direct.cc.inc"
      >();
}

int64_t TapsOf(mlir::Type kernel) {
  llvm::ArrayRef<int64_t> shape = mlir::cast<mlir::RankedTensorType>(kernel).getShape();
  return shape[0] * shape[1] * shape[2];
}

int64_t LinesBytes(mlir::Type x, mlir::Type kernel, llvm::ArrayRef<int64_t> pad_low, llvm::ArrayRef<int64_t> pad_high) {
  llvm::ArrayRef<int64_t> image = mlir::cast<mlir::RankedTensorType>(x).getShape();
  const int64_t lines = mlir::cast<mlir::RankedTensorType>(kernel).getDimSize(0);
  return 4 * lines * (image[2] + pad_low[1] + pad_high[1]) * image[3];
}

using mlir::RankedTensorType;
using mlir::Value;
using mlir::ValueRange;

// exec.direct_conv2d

llvm::LogicalResult DirectConv2DOp::inferReturnTypes(mlir::MLIRContext* context, std::optional<mlir::Location> loc,
                                                     ValueRange operands, mlir::DictionaryAttr attributes,
                                                     mlir::OpaqueProperties properties, mlir::RegionRange regions,
                                                     llvm::SmallVectorImpl<mlir::Type>& types) {
  const Properties& p = *properties.as<Properties*>();
  Conv2DOp::Properties q;
  q.strides = p.strides;
  q.pad_low = p.pad_low;
  q.pad_high = p.pad_high;
  return Conv2DOp::inferReturnTypes(context, loc, operands, attributes, &q, regions, types);
}

BatchRule DirectConv2DOp::getBatchRule() { return BatchRule::kPerExample; }
int64_t DirectConv2DOp::getFlops() {
  return 2 * RowElements(getType()) * (RowElements(getKernel().getType()) / TypeOf(getKernel()).getDimSize(3));
}

absl::Status DirectConv2DOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                      std::vector<RefTensor>& results) {
  return EvaluateAs<Conv2DOp>(*this, operands, context, results, getX(), getKernel(), getStrides(), getPadLow(),
                              getPadHigh());
}

Value DirectConv2DOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  RankedTensorType kernel = TypeOf(getKernel());
  WindowEmitter e(c, td::GetWindowGeometry(getX().getType(), getType(), kernel.getShape(), getStrides(), getPadLow()));
  Value sum;
  for (int64_t ky = 0; ky < kernel.getDimSize(0); ++ky) {
    for (int64_t kx = 0; kx < kernel.getDimSize(1); ++kx) {
      for (int64_t i = 0; i < kernel.getDimSize(2); ++i) {
        Value channel = e.Index(i);
        Value x = e.Tap(c, 0, indices, ky, kx, channel);
        Value w = c.Operand(1, {e.Index(ky), e.Index(kx), channel, indices[3]});
        sum = e.AddF(sum, e.MulF(x, w));
      }
    }
  }
  return sum;
}

// exec.direct_conv2d_filter_grad

llvm::LogicalResult DirectConv2DFilterGradOp::inferReturnTypes(
    mlir::MLIRContext* context, std::optional<mlir::Location> loc, ValueRange operands, mlir::DictionaryAttr attributes,
    mlir::OpaqueProperties properties, mlir::RegionRange regions, llvm::SmallVectorImpl<mlir::Type>& types) {
  Conv2DFilterGradOp::Properties q = FilterGradProperties(*properties.as<Properties*>());
  return Conv2DFilterGradOp::inferReturnTypes(context, loc, {operands[1], operands[0]}, attributes, &q, regions, types);
}

BatchRule DirectConv2DFilterGradOp::getBatchRule() { return BatchRule::kBatchSum; }
int64_t DirectConv2DFilterGradOp::getFlops() { return FilterGradFlops(getDy(), getResult()); }

absl::Status DirectConv2DFilterGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                                std::vector<RefTensor>& results) {
  const RefTensor* swapped[] = {operands[1], operands[0]};
  return EvaluateAs<Conv2DFilterGradOp>(*this, swapped, context, results, getX(), getDy(), getSize(), getStrides(),
                                        getPadLow(), getPadHigh());
}

// `indices`: the indices of an element of dy, then of an element of the result in the same output channel.
Value DirectConv2DFilterGradOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  WindowEmitter e(c, td::GetWindowGeometry(getX().getType(), getDy().getType(), getSize(), getStrides(), getPadLow()));
  int64_t tap[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    if (auto constant = indices[4 + i].getDefiningOp<mlir::arith::ConstantIndexOp>()) tap[i] = constant.value();
  }
  return e.MulF(c.Operand(0, indices.take_front(4)), e.Tap(c, 1, indices, tap[0], tap[1], indices[6]));
}

}  // namespace tandem::exec
