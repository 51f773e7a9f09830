#include "passes/library_config.h"

#include "graph/ir/interfaces.h"
#include "mlir/IR/Builders.h"

namespace tandem {
namespace {

static_assert(static_cast<int>(exec::Primitive::kBatchMatMul) == static_cast<int>(fb::Primitive::BatchMatMul));
static_assert(static_cast<int>(exec::Activation::kGelu) == static_cast<int>(fb::Activation::Gelu));
static_assert(static_cast<int>(exec::Summed::kKernel) == static_cast<int>(fb::Summed::Kernel));
static_assert(static_cast<int>(exec::Algorithm::kPackPanels) == static_cast<int>(fb::Algorithm::PackPanels));

std::vector<int64_t> Sizes(mlir::DenseI64ArrayAttr sizes) {
  return sizes ? std::vector<int64_t>(sizes.asArrayRef()) : std::vector<int64_t>();
}

fb::DType ElementType(mlir::Type type) { return type ? static_cast<fb::DType>(td::ToDType(type)) : fb::DType::Float32; }

// Null for none.
exec::EpilogueAttr EpilogueToAttr(mlir::MLIRContext* context, const Epilogue& e) {
  if (e.empty()) return {};
  return exec::EpilogueAttr::get(context, e.bias, e.residual, static_cast<exec::Activation>(e.activation), e.saves,
                                 e.gradient, static_cast<exec::Summed>(e.sums));
}

Epilogue EpilogueOf(exec::EpilogueAttr attr) {
  if (!attr) return {};
  return {attr.getBias(),  attr.getResidual(), static_cast<fb::Activation>(attr.getActivation()),
          attr.getSaves(), attr.getGradient(), static_cast<fb::Summed>(attr.getSums())};
}

}  // namespace

exec::LibraryConfigAttr LibraryConfigToAttr(mlir::MLIRContext* context, const fb::LibraryCallT& call) {
  mlir::Builder b(context);
  const auto sizes = [&](const std::vector<int64_t>& values) {
    return values.empty() ? mlir::DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(values);
  };
  const auto type = [&](fb::DType t) {
    const bool plain = t == fb::DType::Invalid || t == fb::DType::Float32;
    return plain ? mlir::Type() : td::FromDType(context, static_cast<DType>(t));
  };
  const bool packs = call.primitive == fb::Primitive::PackWeights;
  return exec::LibraryConfigAttr::get(
      context, sizes(call.x_shape), sizes(call.kernel_shape), sizes(call.y_shape), sizes(call.strides),
      sizes(call.pad_low), sizes(call.pad_high), type(call.x_dtype), type(call.kernel_dtype), type(call.y_dtype),
      type(call.plain_dtype), call.transpose_a, call.transpose_b, call.swap_x, call.swap_kernel, call.swap_y,
      call.packed, call.reduces_batch, call.tf32, EpilogueToAttr(context, call.epilogue),
      packs ? static_cast<exec::Primitive>(call.packed_for) : exec::Primitive::kPackWeights,
      static_cast<exec::Algorithm>(call.algorithm),
      call.implementation.empty() ? mlir::StringAttr() : b.getStringAttr(call.implementation));
}

fb::LibraryCallT LibraryCallOf(exec::LibraryCallOp op) {
  const exec::LibraryConfigAttr config = op.getConfig();
  fb::LibraryCallT call;
  call.primitive = static_cast<fb::Primitive>(op.getPrimitive());
  call.x_shape = Sizes(config.getXShape());
  call.kernel_shape = Sizes(config.getKernelShape());
  call.y_shape = Sizes(config.getYShape());
  call.strides = Sizes(config.getStrides());
  call.pad_low = Sizes(config.getPadLow());
  call.pad_high = Sizes(config.getPadHigh());
  call.x_dtype = ElementType(config.getXDtype());
  call.kernel_dtype = ElementType(config.getKernelDtype());
  call.y_dtype = ElementType(config.getYDtype());
  call.plain_dtype = ElementType(config.getPlainDtype());
  call.transpose_a = config.getTransposeA();
  call.transpose_b = config.getTransposeB();
  call.swap_x = config.getSwapX();
  call.swap_kernel = config.getSwapKernel();
  call.swap_y = config.getSwapY();
  call.packed = config.getPacked();
  call.reduces_batch = config.getReducesBatch();
  call.tf32 = config.getTf32();
  call.epilogue = EpilogueOf(config.getEpilogue());
  if (op.getPrimitive() == exec::Primitive::kPackWeights) {
    call.packed_for = static_cast<fb::Primitive>(config.getPackedFor());
  }
  call.algorithm = static_cast<fb::Algorithm>(config.getAlgorithm());
  if (config.getImplementation()) call.implementation = config.getImplementation().str();
  return call;
}

}  // namespace tandem
