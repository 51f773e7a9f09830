#include "graph/ir/update.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/ir/reference_util.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#define GET_OP_CLASSES
#include "graph/ir/update.cc.inc"

namespace tandem::td {

using mlir::emitOptionalError;
using mlir::Value;

void TdDialect::registerUpdateOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/update.cc.inc"
      >();
}

namespace {

// Returns element type and shape as text, such as "float32 [3,4]".
std::string TypeString(mlir::Type type) {
  return absl::StrCat(Name(ToDType(mlir::getElementTypeOrSelf(type))), " ", ShapeString(ToShape(type)));
}

// Operands are var, slots, grad, lr; results are var and slots.
llvm::LogicalResult InferUpdate(std::optional<mlir::Location> loc, mlir::ValueRange operands, int slots,
                                llvm::SmallVectorImpl<mlir::Type>& types) {
  mlir::Type type = operands[0].getType();
  for (int i = 1; i <= slots + 1; ++i) {
    if (operands[i].getType() != type) {
      return emitOptionalError(loc, i == slots + 1 ? "gradient " : "slot ", TypeString(operands[i].getType()),
                               " does not fit the variable ", TypeString(type), ": shape and dtype must be the same");
    }
  }
  auto lr = mlir::cast<mlir::RankedTensorType>(operands[slots + 2].getType());
  mlir::Type element = mlir::cast<mlir::RankedTensorType>(type).getElementType();
  if (lr.getRank() != 0 || lr.getElementType() != element) {
    return emitOptionalError(loc, "the learning rate must be a scalar of type ", element, ", not ", lr);
  }
  types.append(slots + 1, type);
  return mlir::success();
}

#define TD_INFER_UPDATE(Op)                                                                                         \
  llvm::LogicalResult Op::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,                   \
                                           mlir::ValueRange operands, mlir::DictionaryAttr, mlir::OpaqueProperties, \
                                           mlir::RegionRange, llvm::SmallVectorImpl<mlir::Type>& types) {           \
    return InferUpdate(loc, operands, kSlots, types);                                                               \
  }

// Calls f(i) for every element after giving each of `results` the variable's shape.
template <typename F>
absl::Status ForEachElement(absl::Span<const RefTensor* const> operands, std::vector<RefTensor>& results, F f) {
  for (RefTensor& r : results) r = *operands[0];
  for (size_t i = 0; i < results[0].values.size(); ++i) f(i);
  return absl::OkStatus();
}

// Emits scalar arithmetic on one element, in the variable's element type.
class Scalars {
 public:
  Scalars(ElementalContext& c, mlir::ValueRange indices) : c_(c), indices_(indices) {}
  Value At(unsigned operand) { return c_.Operand(operand, indices_); }
  Value Rate(unsigned operand) { return c_.Operand(operand, {}); }
  Value Number(double v, Value like) {
    return b().create<mlir::arith::ConstantOp>(c_.loc(), b().getFloatAttr(like.getType(), v));
  }
  Value Add(Value x, Value y) { return b().create<mlir::arith::AddFOp>(c_.loc(), x, y); }
  Value Sub(Value x, Value y) { return b().create<mlir::arith::SubFOp>(c_.loc(), x, y); }
  Value Mul(Value x, Value y) { return b().create<mlir::arith::MulFOp>(c_.loc(), x, y); }
  Value Mul(Value x, double y) { return Mul(x, Number(y, x)); }
  Value Div(Value x, Value y) { return b().create<mlir::arith::DivFOp>(c_.loc(), x, y); }
  Value Sqrt(Value x) { return b().create<mlir::math::SqrtOp>(c_.loc(), x); }
  // Returns d x + (1 - d) y.
  Value Decay(double d, Value x, Value y) { return Add(Mul(x, d), Mul(y, 1 - d)); }

 private:
  mlir::OpBuilder& b() { return c_.builder(); }
  ElementalContext& c_;
  mlir::ValueRange indices_;
};

}  // namespace

TD_INFER_UPDATE(ApplySgdOp)
TD_INFER_UPDATE(ApplyMomentumOp)
TD_INFER_UPDATE(ApplyAdamOp)
TD_INFER_UPDATE(ApplyRmsPropOp)
TD_INFER_UPDATE(ApplyRmsPropMomentumOp)

Value ApplySgdOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  Scalars s(c, indices);
  return s.Sub(s.At(0), s.Mul(s.Rate(2), s.At(1)));
}

absl::Status ApplySgdOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                  std::vector<RefTensor>& results) {
  return ForEachElement(operands, results,
                        [&](size_t i) { results[0].values[i] -= operands[2]->values[0] * operands[1]->values[i]; });
}

Value ApplyMomentumOp::emitElement(ElementalContext& c, unsigned result, mlir::ValueRange indices) {
  Scalars s(c, indices);
  double momentum = getMomentum().convertToDouble();
  Value grad = s.At(2), accum = s.Add(s.Mul(s.At(1), momentum), grad);
  if (result == 1) return accum;
  return s.Sub(s.At(0), s.Mul(s.Rate(3), getNesterov() ? s.Add(grad, s.Mul(accum, momentum)) : accum));
}

absl::Status ApplyMomentumOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                       std::vector<RefTensor>& results) {
  double momentum = getMomentum().convertToDouble(), lr = operands[3]->values[0];
  return ForEachElement(operands, results, [&](size_t i) {
    double grad = operands[2]->values[i], accum = momentum * operands[1]->values[i] + grad;
    results[1].values[i] = accum;
    results[0].values[i] -= lr * (getNesterov() ? grad + momentum * accum : accum);
  });
}

Value ApplyAdamOp::emitElement(ElementalContext& c, unsigned result, mlir::ValueRange indices) {
  Scalars s(c, indices);
  Value grad = s.At(3);
  Value m = s.Decay(getBeta1().convertToDouble(), s.At(1), grad);
  if (result == 1) return m;
  Value v = s.Decay(getBeta2().convertToDouble(), s.At(2), s.Mul(grad, grad));
  if (result == 2) return v;
  Value root = s.Sqrt(v);
  return s.Sub(s.At(0), s.Div(s.Mul(s.Rate(4), m), s.Add(root, s.Number(getEpsilon().convertToDouble(), root))));
}

absl::Status ApplyAdamOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                   std::vector<RefTensor>& results) {
  double b1 = getBeta1().convertToDouble(), b2 = getBeta2().convertToDouble(), epsilon = getEpsilon().convertToDouble();
  return ForEachElement(operands, results, [&](size_t i) {
    double grad = operands[3]->values[i];
    double m = results[1].values[i] = b1 * operands[1]->values[i] + (1 - b1) * grad;
    double v = results[2].values[i] = b2 * operands[2]->values[i] + (1 - b2) * grad * grad;
    results[0].values[i] -= operands[4]->values[0] * m / (std::sqrt(v) + epsilon);
  });
}

Value ApplyRmsPropOp::emitElement(ElementalContext& c, unsigned result, mlir::ValueRange indices) {
  Scalars s(c, indices);
  Value grad = s.At(2), ms = s.Decay(getRho().convertToDouble(), s.At(1), s.Mul(grad, grad));
  if (result == 1) return ms;
  Value root = s.Sqrt(ms);
  return s.Sub(s.At(0), s.Div(s.Mul(s.Rate(3), grad), s.Add(root, s.Number(getEpsilon().convertToDouble(), root))));
}

absl::Status ApplyRmsPropOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                      std::vector<RefTensor>& results) {
  double rho = getRho().convertToDouble(), epsilon = getEpsilon().convertToDouble();
  return ForEachElement(operands, results, [&](size_t i) {
    double grad = operands[2]->values[i];
    double ms = results[1].values[i] = rho * operands[1]->values[i] + (1 - rho) * grad * grad;
    results[0].values[i] -= operands[3]->values[0] * grad / (std::sqrt(ms) + epsilon);
  });
}

Value ApplyRmsPropMomentumOp::emitElement(ElementalContext& c, unsigned result, mlir::ValueRange indices) {
  Scalars s(c, indices);
  Value grad = s.At(3), ms = s.Decay(getRho().convertToDouble(), s.At(1), s.Mul(grad, grad));
  if (result == 1) return ms;
  Value root = s.Sqrt(ms);
  Value update = s.Div(s.Mul(s.Rate(4), grad), s.Add(root, s.Number(getEpsilon().convertToDouble(), root)));
  Value accum = s.Add(s.Mul(s.At(2), getMomentum().convertToDouble()), update);
  return result == 2 ? accum : s.Sub(s.At(0), accum);
}

absl::Status ApplyRmsPropMomentumOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                              std::vector<RefTensor>& results) {
  double rho = getRho().convertToDouble(), momentum = getMomentum().convertToDouble(),
         epsilon = getEpsilon().convertToDouble();
  return ForEachElement(operands, results, [&](size_t i) {
    double grad = operands[3]->values[i];
    double ms = results[1].values[i] = rho * operands[1]->values[i] + (1 - rho) * grad * grad;
    double accum = results[2].values[i] =
        momentum * operands[2]->values[i] + operands[4]->values[0] * grad / (std::sqrt(ms) + epsilon);
    results[0].values[i] -= accum;
  });
}

}  // namespace tandem::td
