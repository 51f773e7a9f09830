#include "passes/codegen/kernel_emitter.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/codegen/attention_kernel.h"
#include "passes/codegen/conv_weight_grad_kernel.h"
#include "passes/codegen/direct_conv_kernel.h"
#include "passes/codegen/float_rules.h"
#include "passes/codegen/kernel_builder.h"
#include "passes/codegen/kernel_entry.h"
#include "passes/codegen/packed_kernel.h"
#include "passes/codegen/reduction.h"
#include "passes/codegen/weight_grad_kernel.h"
#include "passes/codegen/winograd_kernel.h"

namespace tandem {

namespace LLVM = mlir::LLVM;

void LoadCodegenDialects(mlir::MLIRContext& context) {
  context.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                      mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect, mlir::func::FuncDialect>();
}

void KernelBuilder::Begin(const std::string& name, unsigned numbers) {
  BeginFunction(name, llvm::SmallVector<mlir::Type>(numbers, b_.getI64Type()), LLVM::Linkage::Internal);
  // Never inlined: only arguments can be marked as not overlapping, and all rows must run the same code.
  f_.setPassthroughAttr(b_.getArrayAttr({b_.getStringAttr("noinline"), b_.getStringAttr("nounwind")}));
}

void KernelBuilder::EmitEntry() {
  const KernelEntry entry = BeginKernelEntry(b_, loc_, symbol_, module_, num_buffers());
  std::vector<mlir::Value> arguments = entry.buffers;
  arguments.insert(arguments.end(), {entry.begin, entry.end, entry.rows});
  b_.create<LLVM::CallOp>(loc_, f_, arguments);
  EndFunction();
}

void KernelBuilder::EmitStores(ElementEmitter& e, Space space, const std::vector<unsigned>& which) {
  space.radices = Radices(results_[which[0]].getType());
  EmitNest(e, loc_, space, [&](const Point& point) { StorePoints(e, which, {point}); });
}

void KernelBuilder::EmitLoopKernel() {
  Begin(symbol_ + ".body", 3);
  Space space;
  space.rows = Space::Rows::kLoop;
  space.begin = Number(0);
  space.end = Number(1);
  ElementEmitter e(b_, Number(2));
  BindOperands(e);
  for (const auto& group : GroupBySize(results_, plain_results_)) EmitStores(e, space, group);
  status_.Update(e.status);
  EndFunction();
}

absl::Status KernelBuilder::Emit() {
  if (!is_of_loops()) {
    return absl::InternalError(absl::StrCat("kernel ", symbol_, " is no kernel of loops, but of the kind ",
                                            exec::stringifyKernelKind(kind_).str()));
  }
  TD_RETURN_IF_ERROR(Check(/*takes_epilogues=*/false));
  for (unsigned r : batch_reduces_) {
    if (!columns_ && IsColumnSum(results_[r].getDefiningOp())) {
      return absl::InternalError(absl::StrCat("kernel ", symbol_, ": result ", r,
                                              " is a column sum, and the kernel has no loop over columns"));
    }
  }
  is_elementwise() ? EmitLoopKernel() : columns_ ? EmitColumnKernel() : EmitRowKernel();
  EmitEntry();
  return status_;
}

bool MayAlias(mlir::func::FuncOp kernel, unsigned operand, unsigned result) {
  const std::optional<exec::KernelKind> kind = exec::GetKernelKind(kernel);
  mlir::Operation* end = kernel.getBody().front().getTerminator();
  if (kind != exec::KernelKind::kLoop && kind != exec::KernelKind::kFlat) return false;
  if (operand >= kernel.getNumArguments() || result >= end->getNumOperands()) return false;
  mlir::Type type = kernel.getArgument(operand).getType();
  for (mlir::Type t : end->getOperandTypes()) {
    if (mlir::cast<mlir::RankedTensorType>(t).getShape() != mlir::cast<mlir::RankedTensorType>(type).getShape()) {
      return false;
    }
  }
  if (end->getOperand(result).getType() != type) return false;
  // Everything that depends on the operand must be elementwise.
  llvm::SmallVector<mlir::Value> work = {kernel.getArgument(operand)};
  llvm::DenseSet<mlir::Value> seen;
  while (!work.empty()) {
    mlir::Value v = work.pop_back_val();
    if (!seen.insert(v).second) continue;
    for (mlir::Operation* user : v.getUsers()) {
      if (user == end) continue;
      auto op = mlir::dyn_cast<td::ElementalOp>(user);
      if (!op || op.getFusionKind() != td::FusionKind::kElementwise) return false;
      work.append(user->result_begin(), user->result_end());
    }
  }
  return true;
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitKernel(mlir::func::FuncOp kernel, const std::string& symbol,
                                                             bool fuse_multiply_add, int vector_bits,
                                                             bool native_bfloat16) {
  LoadCodegenDialects(*kernel.getContext());
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(kernel.getLoc(), kernel.getName());
  if (IsWinogradKernel(kernel)) {
    EmitWinogradKernel(kernel, symbol, *module, vector_bits, native_bfloat16);
  } else if (IsAttentionKernel(kernel)) {
    EmitAttentionKernel(kernel, symbol, *module, vector_bits);
  } else if (IsPackedKernel(kernel)) {
    EmitPackedKernel(kernel, symbol, *module);
  } else if (IsWeightGradKernel(kernel)) {
    EmitWeightGradKernel(kernel, symbol, *module, vector_bits);
  } else if (IsConvWeightGradKernel(kernel)) {
    EmitConvWeightGradKernel(kernel, symbol, *module, vector_bits);
  } else if (IsDirectConvKernel(kernel)) {
    EmitDirectConvKernel(kernel, symbol, *module, vector_bits);
  } else {
    TD_RETURN_IF_ERROR(KernelBuilder(kernel, *module, symbol).Emit());
  }
  ApplyFloatRules(*module, fuse_multiply_add);
  return module;
}

}  // namespace tandem
