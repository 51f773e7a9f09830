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

KernelBuilder::KernelBuilder(mlir::func::FuncOp kernel, mlir::ModuleOp module, std::string symbol)
    : IndexBuilder(builder_, kernel.getLoc()),
      kernel_(kernel),
      module_(module),
      builder_(kernel.getContext()),
      symbol_(std::move(symbol)),
      kind_(exec::GetKernelKind(kernel).value_or(exec::KernelKind::kCluster)) {
  for (mlir::Value v : kernel.getBody().front().getTerminator()->getOperands()) results_.push_back(v);
  alias_.assign(results_.size(), -1);
  const llvm::ArrayRef<int64_t> alias = exec::GetAliases(kernel);
  for (unsigned i = 0; i < alias_.size() && i < alias.size(); ++i) alias_[i] = static_cast<int>(alias[i]);
  for (unsigned r = 0; r < results_.size(); ++r) {
    mlir::Operation* op = results_[r].getDefiningOp();
    (op != nullptr && IsBatchReduce(op) ? batch_reduces_ : plain_results_).push_back(r);
  }
}

LLVM::LLVMFuncOp KernelBuilder::Begin(const std::string& name, unsigned numbers) {
  mlir::Type pointer = LLVM::LLVMPointerType::get(b_.getContext());
  unsigned buffers = kernel_.getNumArguments() + results_.size();
  llvm::SmallVector<mlir::Type> arguments(buffers, pointer);
  arguments.append(numbers, b_.getI64Type());
  b_.setInsertionPointToEnd(module_.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), arguments);
  auto f = b_.create<LLVM::LLVMFuncOp>(loc_, name, type, LLVM::Linkage::Internal);
  // Never inlined: only arguments can be marked as not overlapping, and all rows must run the same code.
  f.setPassthroughAttr(b_.getArrayAttr({b_.getStringAttr("noinline"), b_.getStringAttr("nounwind")}));
  for (unsigned i = 0; i < buffers; ++i) f.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b_.getUnitAttr());
  mlir::Block* block = f.addEntryBlock(b_);
  b_.setInsertionPointToStart(block);
  return f;
}

mlir::Value KernelBuilder::NumberArgument(LLVM::LLVMFuncOp f, unsigned i) {
  return Index(f.getArgument(kernel_.getNumArguments() + results_.size() + i));
}

ElementEmitter::Buffer KernelBuilder::ResultBuffer(LLVM::LLVMFuncOp f, unsigned result) {
  return {f.getArgument(kernel_.getNumArguments() + result)};
}

void KernelBuilder::BindOperands(ElementEmitter& e, LLVM::LLVMFuncOp f) {
  for (unsigned i = 0; i < kernel_.getNumArguments(); ++i) e.Bind(kernel_.getArgument(i), {f.getArgument(i)});
  // A shared buffer is one pointer for LLVM, so that it sees that an element is read before it is written.
  for (unsigned r = 0; r < alias_.size(); ++r) {
    if (alias_[r] >= 0) e.Bind(kernel_.getArgument(alias_[r]), ResultBuffer(f, r));
  }
}

void KernelBuilder::EmitEntry(LLVM::LLVMFuncOp body) {
  const KernelEntry entry = BeginKernelEntry(b_, loc_, symbol_, module_, kernel_.getNumArguments() + results_.size());
  std::vector<mlir::Value> arguments = entry.buffers;
  arguments.insert(arguments.end(), {entry.begin, entry.end, entry.rows});
  b_.create<LLVM::CallOp>(loc_, body, arguments);
  End();
}

void KernelBuilder::EmitStores(ElementEmitter& e, LLVM::LLVMFuncOp f, Space space, const std::vector<unsigned>& which) {
  space.radices = Radices(results_[which[0]].getType());
  EmitNest(e, loc_, space, [&](const Point& point) {
    // All loads come before the first store, since a result may overwrite an operand.
    std::vector<llvm::SmallVector<mlir::Value>> at;
    std::vector<mlir::Value> elements;
    for (unsigned r : which) {
      at.push_back(IndicesAt(e, loc_, point, results_[r].getType()));
      elements.push_back(e.Element(loc_, results_[r], at.back()));
    }
    for (unsigned i = 0; i < which.size(); ++i) {
      e.Store(loc_, results_[which[i]].getType(), ResultBuffer(f, which[i]), at[i], elements[i]);
    }
  });
}

LLVM::LLVMFuncOp KernelBuilder::EmitLoopKernel() {
  LLVM::LLVMFuncOp f = Begin(symbol_ + ".body", 3);
  Space space;
  space.rows = Space::Rows::kLoop;
  space.begin = NumberArgument(f, 0);
  space.end = NumberArgument(f, 1);
  ElementEmitter e(b_, NumberArgument(f, 2));
  BindOperands(e, f);
  for (const auto& group : GroupBySize(results_, plain_results_)) EmitStores(e, f, space, group);
  status_.Update(e.status);
  End();
  return f;
}

absl::Status KernelBuilder::Emit() {
  for (unsigned r = 0; r < alias_.size(); ++r) {
    if (alias_[r] >= 0 && !MayAlias(kernel_, alias_[r], r)) {
      return absl::InternalError(
          absl::StrCat("kernel ", symbol_, ": result ", r, " may not share operand ", alias_[r], "'s buffer"));
    }
  }
  for (mlir::Operation& op : kernel_.getBody().front()) {
    auto elemental = mlir::dyn_cast<td::ElementalOp>(op);
    if (elemental && elemental.getFusionKind() == td::FusionKind::kNone) {
      return absl::InternalError(absl::StrCat("kernel ", symbol_, ": ", op.getName().getStringRef().str(),
                                              " of these types is no op of a generated kernel"));
    }
  }
  bool batched = kind_ != exec::KernelKind::kOnce;
  bool elementwise = kind_ == exec::KernelKind::kLoop || kind_ == exec::KernelKind::kFlat;
  const std::string kind = exec::stringifyKernelKind(kind_).str();
  if (!elementwise && kind_ != exec::KernelKind::kRow && kind_ != exec::KernelKind::kCol &&
      kind_ != exec::KernelKind::kOnce) {
    return absl::InternalError(absl::StrCat("kernel ", symbol_, " is no kernel of loops, but of the kind ", kind));
  }
  for (unsigned r = 0; batched && r < results_.size(); ++r) {
    bool summed = llvm::is_contained(batch_reduces_, r);
    if ((summed && elementwise) || (!summed && !td::IsBatched(results_[r].getType()))) {
      return absl::InternalError(
          absl::StrCat("kernel ", symbol_, ": result ", r, " has no batch axis, which a ", kind, " kernel needs"));
    }
  }
  const bool columns = !elementwise && FitsColumns();
  for (unsigned r : batch_reduces_) {
    if (!columns && IsColumnSum(results_[r].getDefiningOp())) {
      return absl::InternalError(absl::StrCat("kernel ", symbol_, ": result ", r,
                                              " is a column sum, and the kernel has no loop over columns"));
    }
  }
  LLVM::LLVMFuncOp body = elementwise ? EmitLoopKernel() : columns ? EmitColumnKernel() : EmitRowKernel(batched);
  EmitEntry(body);
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
