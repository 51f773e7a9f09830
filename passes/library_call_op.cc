#include "passes/library_call_op.h"

#include "graph/ir/interfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "runtime/library_call.h"
#include "runtime/library_calls/pack_weights.h"

namespace tandem {
namespace {

static_assert(static_cast<int>(exec::Direction::kFilterGrad) == static_cast<int>(fb::Direction::FilterGrad));
static_assert(static_cast<int>(exec::Activation::kGelu) == static_cast<int>(fb::Activation::Gelu));
static_assert(static_cast<int>(exec::Summed::kB) == static_cast<int>(fb::Summed::B));
static_assert(static_cast<int>(exec::Algorithm::kPackPanels) == static_cast<int>(fb::Algorithm::PackPanels));

// Tables to attributes.
class ToAttr {
 public:
  explicit ToAttr(mlir::MLIRContext* context) : context_(context) {}

  mlir::Attribute operator()(const fb::Conv2DT& c) const {
    return exec::Conv2DAttr::get(context_, static_cast<exec::Direction>(c.direction), Sizes(c.x_shape),
                                 Sizes(c.kernel_shape), Sizes(c.y_shape), Type(c.x_dtype), Type(c.kernel_dtype),
                                 Type(c.y_dtype), Sizes(c.strides), Sizes(c.pad_low), Sizes(c.pad_high), c.packed,
                                 Parts(c.epilogue));
  }
  mlir::Attribute operator()(const fb::MatMulT& c) const {
    return exec::MatMulAttr::get(context_, Sizes(c.a_shape), Sizes(c.b_shape), Sizes(c.y_shape), Type(c.a_dtype),
                                 Type(c.b_dtype), Type(c.y_dtype), c.transpose_a, c.transpose_b, c.packed,
                                 c.reduces_batch, Parts(c.epilogue));
  }
  mlir::Attribute operator()(const fb::BatchMatMulT& c) const {
    return exec::BatchMatMulAttr::get(context_, Sizes(c.a_shape), Sizes(c.b_shape), Sizes(c.y_shape), Type(c.a_dtype),
                                      Type(c.b_dtype), Type(c.y_dtype), c.transpose_a, c.transpose_b, c.swap_a,
                                      c.swap_b, c.swap_y);
  }
  mlir::Attribute operator()(const fb::PackWeightsT& c) const {
    return exec::PackWeightsAttr::get(context_, VisitReader(c, *this), Type(c.plain_dtype));
  }

 private:
  mlir::DenseI64ArrayAttr Sizes(const std::vector<int64_t>& sizes) const {
    return sizes.empty() ? mlir::DenseI64ArrayAttr() : mlir::DenseI64ArrayAttr::get(context_, sizes);
  }
  mlir::Type Type(fb::DType type) const {
    return type == fb::DType::Float32 ? mlir::Type() : td::FromDType(context_, static_cast<DType>(type));
  }
  // Null for none.
  exec::EpilogueAttr Parts(const Epilogue& e) const {
    if (e.empty()) return {};
    return exec::EpilogueAttr::get(context_, e.bias, e.residual, static_cast<exec::Activation>(e.activation), e.saves,
                                   e.gradient, static_cast<exec::Summed>(e.sums));
  }

  mlir::MLIRContext* context_;
};

std::vector<int64_t> Sizes(mlir::DenseI64ArrayAttr sizes) {
  return sizes ? std::vector<int64_t>(sizes.asArrayRef()) : std::vector<int64_t>();
}

fb::DType ElementType(mlir::Type type) { return type ? static_cast<fb::DType>(td::ToDType(type)) : fb::DType::Float32; }

Epilogue ToEpilogue(exec::EpilogueAttr attr) {
  if (!attr) return {};
  return {attr.getBias(),  attr.getResidual(), static_cast<fb::Activation>(attr.getActivation()),
          attr.getSaves(), attr.getGradient(), static_cast<fb::Summed>(attr.getSums())};
}

fb::Conv2DT TableOf(exec::Conv2DAttr attr) {
  fb::Conv2DT c;
  c.direction = static_cast<fb::Direction>(attr.getDirection());
  c.x_shape = Sizes(attr.getXShape());
  c.kernel_shape = Sizes(attr.getKernelShape());
  c.y_shape = Sizes(attr.getYShape());
  c.x_dtype = ElementType(attr.getXDtype());
  c.kernel_dtype = ElementType(attr.getKernelDtype());
  c.y_dtype = ElementType(attr.getYDtype());
  c.strides = Sizes(attr.getStrides());
  c.pad_low = Sizes(attr.getPadLow());
  c.pad_high = Sizes(attr.getPadHigh());
  c.packed = attr.getPacked();
  c.epilogue = ToEpilogue(attr.getEpilogue());
  return c;
}

// What a MatMul and a BatchMatMul have in common.
template <typename Table, typename Attr>
Table ProductOf(Attr attr) {
  Table c;
  c.a_shape = Sizes(attr.getAShape());
  c.b_shape = Sizes(attr.getBShape());
  c.y_shape = Sizes(attr.getYShape());
  c.a_dtype = ElementType(attr.getADtype());
  c.b_dtype = ElementType(attr.getBDtype());
  c.y_dtype = ElementType(attr.getYDtype());
  c.transpose_a = attr.getTransposeA();
  c.transpose_b = attr.getTransposeB();
  return c;
}

fb::MatMulT TableOf(exec::MatMulAttr attr) {
  auto c = ProductOf<fb::MatMulT>(attr);
  c.packed = attr.getPacked();
  c.reduces_batch = attr.getReducesBatch();
  c.epilogue = ToEpilogue(attr.getEpilogue());
  return c;
}

fb::BatchMatMulT TableOf(exec::BatchMatMulAttr attr) {
  auto c = ProductOf<fb::BatchMatMulT>(attr);
  c.swap_a = attr.getSwapA();
  c.swap_b = attr.getSwapB();
  c.swap_y = attr.getSwapY();
  return c;
}

fb::PackWeightsT TableOf(exec::PackWeightsAttr attr) {
  fb::PackWeightsT c;
  if (mlir::Attribute reader = attr.getReader()) {
    llvm::TypeSwitch<mlir::Attribute>(reader).Case<exec::Conv2DAttr, exec::MatMulAttr>(
        [&](auto call) { c.reader.Set(TableOf(call)); });
  }
  c.plain_dtype = ElementType(attr.getPlainDtype());
  return c;
}

}  // namespace

exec::LibraryCallOp BuildLibraryCall(mlir::OpBuilder& builder, mlir::Location loc, mlir::TypeRange results,
                                     const fb::LibraryCallT& call, mlir::ValueRange operands) {
  const mlir::Attribute operation = VisitOperation(call, ToAttr(builder.getContext()));
  const mlir::StringAttr implementation =
      call.implementation.empty() ? mlir::StringAttr() : builder.getStringAttr(call.implementation);
  return builder.create<exec::LibraryCallOp>(loc, results, operation, operands,
                                             static_cast<exec::Algorithm>(call.algorithm), implementation, call.tf32);
}

fb::LibraryCallT LibraryCallOf(exec::LibraryCallOp op) {
  fb::LibraryCallT call;
  llvm::TypeSwitch<mlir::Attribute>(op.getCall())
      .Case<exec::Conv2DAttr, exec::MatMulAttr, exec::BatchMatMulAttr, exec::PackWeightsAttr>(
          [&](auto attr) { call.operation.Set(TableOf(attr)); });
  call.algorithm = static_cast<fb::Algorithm>(op.getAlgorithm());
  call.implementation = op.getImplementation().value_or("").str();
  call.tf32 = op.getTf32();
  return call;
}

}  // namespace tandem
