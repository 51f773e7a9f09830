// Convolutions inside generated kernels: types, reference semantics and scalar code.
#include "passes/exec/direct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

void ExecDialect::registerDirectOps() {
  addOperations<
#define GET_OP_LIST
#include "passes/exec/direct.cc.inc"
      >();
}

using mlir::RankedTensorType;
using mlir::Value;
using mlir::ValueRange;
namespace arith = mlir::arith;

namespace {

using Ints = llvm::ArrayRef<int64_t>;

Value Index(ElementalContext& c, int64_t v) { return c.builder().create<arith::ConstantIndexOp>(c.loc(), v); }

// The image's element at tap (ky, kx) of output pixel (oy, ox), 0 in the padding.
class Taps {
 public:
  Taps(ElementalContext& c, unsigned operand, RankedTensorType image, RankedTensorType output, Ints strides, Ints low)
      : c_(c), b_(c.builder()), operand_(operand), image_(image), output_(output), strides_(strides), low_(low) {}

  Value At(Value row, Value oy, Value ox, int64_t ky, int64_t kx, Value channel) {
    Value inside;
    Value y = Position(0, oy, ky, inside), x = Position(1, ox, kx, inside);
    Value element = c_.Operand(operand_, {row, y, x, channel});
    if (!inside) return element;
    Value zero = b_.create<arith::ConstantOp>(c_.loc(), b_.getFloatAttr(element.getType(), 0));
    return b_.create<arith::SelectOp>(c_.loc(), inside, element, zero);
  }

 private:
  // An index that is always in the image; `inside` gets the condition that it is the one asked for, if there is any.
  Value Position(int axis, Value o, int64_t tap, Value& inside) {
    const int64_t in = image_.getDimSize(1 + axis), out = output_.getDimSize(1 + axis);
    Value at = o;
    if (strides_[axis] != 1) at = b_.create<arith::MulIOp>(c_.loc(), at, Index(c_, strides_[axis]));
    if (tap != low_[axis]) at = b_.create<arith::AddIOp>(c_.loc(), at, Index(c_, tap - low_[axis]));
    if (tap >= low_[axis] && (out - 1) * strides_[axis] + tap - low_[axis] < in) return at;
    // A negative index is a large one without its sign.
    Value fits = b_.create<arith::CmpIOp>(c_.loc(), arith::CmpIPredicate::ult, at, Index(c_, in));
    inside = inside ? Value(b_.create<arith::AndIOp>(c_.loc(), inside, fits)) : fits;
    return b_.create<arith::SelectOp>(c_.loc(), fits, at, Index(c_, 0));
  }

  ElementalContext& c_;
  mlir::OpBuilder& b_;
  unsigned operand_;
  RankedTensorType image_, output_;
  Ints strides_, low_;
};

}  // namespace

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
  mlir::OpBuilder& b = c.builder();
  RankedTensorType kernel = TypeOf(getKernel());
  Taps taps(c, 0, TypeOf(getX()), getType(), getStrides(), getPadLow());
  Value sum;
  for (int64_t ky = 0; ky < kernel.getDimSize(0); ++ky) {
    for (int64_t kx = 0; kx < kernel.getDimSize(1); ++kx) {
      for (int64_t i = 0; i < kernel.getDimSize(2); ++i) {
        Value channel = Index(c, i);
        Value x = taps.At(indices[0], indices[1], indices[2], ky, kx, channel);
        Value w = c.Operand(1, {Index(c, ky), Index(c, kx), channel, indices[3]});
        Value product = b.create<arith::MulFOp>(c.loc(), x, w);
        sum = sum ? Value(b.create<arith::AddFOp>(c.loc(), sum, product)) : product;
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

// `indices`: an element of dy, then an element of the result in the same output channel.
Value DirectConv2DFilterGradOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  mlir::OpBuilder& b = c.builder();
  Taps taps(c, 1, TypeOf(getX()), TypeOf(getDy()), getStrides(), getPadLow());
  int64_t tap[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    if (auto constant = indices[4 + i].getDefiningOp<arith::ConstantIndexOp>()) tap[i] = constant.value();
  }
  Value dy = c.Operand(0, indices.take_front(4));
  Value x = taps.At(indices[0], indices[1], indices[2], tap[0], tap[1], indices[6]);
  return b.create<arith::MulFOp>(c.loc(), dy, x);
}

}  // namespace tandem::exec
