#include "passes/codegen/gpu/gpu_kernel.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "passes/codegen/float_rules.h"
#include "passes/codegen/gpu/attention_plan.h"
#include "passes/codegen/gpu/gpu_kernel_builder.h"
#include "passes/codegen/kernel_emitter.h"
#include "runtime/commands/gpu_launch.h"

namespace tandem {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;

GpuKernelBuilder::GpuKernelBuilder(mlir::func::FuncOp kernel, mlir::ModuleOp module, std::string symbol, int64_t rows,
                                   bool cuts_rows)
    : KernelContext(kernel, module, std::move(symbol)), device_(b_, module), rows_(rows), cuts_rows_(cuts_rows) {}

mlir::Value GpuKernelBuilder::Scratch() { return Offset(Counters(), Int(kGpuCounterBytes)); }

void GpuKernelBuilder::Function(const std::string& name, const std::function<void(ElementEmitter&)>& body) {
  mlir::Type pointer = LLVM::LLVMPointerType::get(b_.getContext()), i64 = b_.getI64Type();
  // Threads never read what others wrote to a result: they exchange values through shared memory or `scratch` only.
  BeginFunction(name, {i64, i64, i64, pointer, pointer}, LLVM::Linkage::External);
  f_.setPassthroughAttr(b_.getArrayAttr({b_.getStringAttr("nounwind")}));
  const auto set_alignment = [&](unsigned argument, int64_t bytes) {
    f_.setArgAttr(argument, LLVM::LLVMDialect::getAlignAttrName(), b_.getI64IntegerAttr(bytes));
  };
  for (unsigned i = 0; i < num_buffers(); ++i) {
    mlir::Type type = i < kernel_.getNumArguments() ? kernel_.getArgument(i).getType()
                                                    : results_[i - kernel_.getNumArguments()].getType();
    // The step's scalars are 8 bytes apart; all other buffers are aligned to at least 16 bytes.
    const bool scalar = !td::IsBatched(type) && InnerSize(type) == 1;
    set_alignment(i, scalar ? StorageBytes(mlir::getElementTypeOrSelf(type)) : 16);
  }
  set_alignment(num_buffers() + kScratch, 16);

  mlir::Value guard = Argument(kGuard);
  mlir::Value null = b_.create<LLVM::ZeroOp>(loc_, pointer);
  mlir::Value guarded = b_.create<LLVM::ICmpOp>(loc_, LLVM::ICmpPredicate::ne, guard, null);
  mlir::Value zero = b_.create<arith::ConstantOp>(loc_, b_.getI32IntegerAttr(0));
  auto flag = b_.create<mlir::scf::IfOp>(loc_, mlir::TypeRange{b_.getI32Type()}, guarded, true);
  {
    mlir::OpBuilder::InsertionGuard insertion(b_);
    b_.setInsertionPointToStart(flag.thenBlock());
    b_.create<mlir::scf::YieldOp>(loc_, b_.create<LLVM::LoadOp>(loc_, b_.getI32Type(), guard).getResult());
    b_.setInsertionPointToStart(flag.elseBlock());
    b_.create<mlir::scf::YieldOp>(loc_, zero);
  }
  mlir::Value runs = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::eq, flag.getResult(0), zero);
  mlir::Value row_offset = Number(2);
  If(runs, [&] {
    thread_ = device_.Thread(loc_);
    block_ = device_.Block(loc_);
    ElementEmitter e(b_, row_offset);
    BindOperands(e);
    body(e);
    status_.Update(e.status);
  });
  EndFunction();
  if (!row_offset.use_empty()) index_bits_ = 64;  // the number of a row in the global batch has no bound
}

namespace {

// True if all indices of the kernel fit 31 bits, so that dividing them is cheap.
bool HasSmallIndices(mlir::func::FuncOp kernel, mlir::ModuleOp module, int64_t rows) {
  constexpr int64_t kMost = (int64_t{1} << 31) - (1 << 22);
  bool small = rows < kMost;
  auto check = [&](mlir::Value v) {
    int64_t size = InnerSize(v.getType());
    small &= size < kMost && (!td::IsBatched(v.getType()) || size == 0 || rows < kMost / size);
  };
  for (mlir::Value v : kernel.getArguments()) check(v);
  kernel.walk([&](mlir::Operation* op) {
    for (mlir::Value v : op->getResults()) check(v);
  });
  // Indices that are data (td.gather) must keep all bits, or they would be clamped wrongly.
  module.walk([&](arith::IndexCastOp op) {
    small &=
        !op.getType().isIndex() || !op.getIn().getType().isInteger(64) || mlir::isa<mlir::BlockArgument>(op.getIn());
  });
  return small;
}

}  // namespace

absl::Status GpuKernelBuilder::Emit(int arch) {
  const std::optional<Factors> attention = AttentionFactors(kernel_, arch);
  if (!attention && !is_of_loops()) {
    return absl::UnimplementedError(absl::StrCat(
        "kernel ", symbol_, " of kind \"", exec::stringifyKernelKind(kind_).str(), "\" cannot be compiled for GPUs"));
  }
  TD_RETURN_IF_ERROR(Check(/*takes_epilogues=*/true));
  index_bits_ = 32;
  const bool reduces = llvm::any_of(kernel_.getBody().front(), [](mlir::Operation& op) { return IsReduceOp(&op); });
  if (attention) {
    EmitAttentionKernel(*attention);
  } else if (is_elementwise() || (!has_rows() && !reduces)) {
    EmitLoopKernel();
  } else if (columns_ && columns_->equal_columns) {
    EmitColumnKernel();
  } else if (ReducesOverGrid()) {
    EmitGridReduceKernel();
  } else {
    EmitRowKernel();
  }
  const bool small_scratch = plan_.scratch_bytes < (int64_t{1} << 31);
  if (kind_ == exec::KernelKind::kFlat || !small_scratch || !HasSmallIndices(kernel_, module_, rows_)) index_bits_ = 64;
  // Indices stay within buffers, so none of their arithmetic overflows. LLVM needs to know that to join neighbouring
  // loads.
  module_.walk([&](mlir::Operation* op) {
    if (!mlir::isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || !op->getResult(0).getType().isIndex()) return;
    op->setAttr("overflowFlags",
                arith::IntegerOverflowFlagsAttr::get(op->getContext(), arith::IntegerOverflowFlags::nsw));
  });
  return status_;
}

absl::StatusOr<GpuKernel> EmitGpuKernel(mlir::func::FuncOp kernel, const std::string& symbol, int64_t rows, int arch) {
  LoadCodegenDialects(*kernel.getContext());
  GpuKernel result;
  for (bool cuts_rows : {true, false}) {
    result.module = mlir::ModuleOp::create(kernel.getLoc(), kernel.getName());
    GpuKernelBuilder builder(kernel, *result.module, symbol, rows, cuts_rows);
    TD_RETURN_IF_ERROR(builder.Emit(arch));
    result.plan = builder.plan();
    result.index_bits = builder.index_bits();
    if (!builder.parts_depend()) break;
  }
  ApplyFloatRules(*result.module, /*fuse_multiply_add=*/true);
  if (mlir::failed(mlir::verify(*result.module))) {
    return absl::InternalError(absl::StrCat("kernel ", kernel.getName().str(), " was emitted as invalid code"));
  }
  return result;
}

}  // namespace tandem
