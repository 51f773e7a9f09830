#include "passes/codegen/kernel_emitter.h"

#include "base/status_macros.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/codegen/float_rules.h"

namespace tandem {

extern const Emitter kAttentionEmitter, kConvWeightGradEmitter, kDirectConvEmitter, kLoopEmitter,
    kPackedFilterGradEmitter, kWeightGradEmitter, kWinogradEmitter;

const Emitter& EmitterOf(mlir::func::FuncOp kernel) {
  static constexpr const Emitter* kEmitters[] = {
      &kWinogradEmitter,   &kAttentionEmitter, &kPackedFilterGradEmitter, &kWeightGradEmitter, &kConvWeightGradEmitter,
      &kDirectConvEmitter, &kLoopEmitter};
  return **llvm::find_if(kEmitters, [&](const Emitter* emitter) { return emitter->takes(kernel); });
}

void LoadCodegenDialects(mlir::MLIRContext& context) {
  context.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                      mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect, mlir::func::FuncDialect>();
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitKernel(mlir::func::FuncOp kernel, const std::string& symbol,
                                                             bool fuse_multiply_add, int vector_bits,
                                                             bool native_bfloat16) {
  LoadCodegenDialects(*kernel.getContext());
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(kernel.getLoc(), kernel.getName());
  TD_RETURN_IF_ERROR(EmitterOf(kernel).emit({kernel, symbol, *module, vector_bits, native_bfloat16}));
  ApplyFloatRules(*module, fuse_multiply_add);
  return module;
}

}  // namespace tandem
