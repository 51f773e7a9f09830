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

namespace {

// Numbers of parameters behind the buffers, which are begin, end, row_offset, scratch, guard.
constexpr unsigned kScratch = 3, kGuard = 4;

int64_t BytesOf(mlir::Type element) { return (StorageType(element).getIntOrFloatBitWidth() + 7) / 8; }

}  // namespace

GpuKernelBuilder::GpuKernelBuilder(mlir::func::FuncOp kernel, mlir::ModuleOp module, std::string symbol, int64_t rows,
                                   bool cuts_rows)
    : IndexBuilder(builder_, kernel.getLoc()),
      kernel_(kernel),
      module_(module),
      builder_(kernel.getContext()),
      device_(builder_, module),
      symbol_(std::move(symbol)),
      kind_(exec::GetKernelKind(kernel).value_or(exec::KernelKind::kCluster)),
      rows_(rows),
      cuts_rows_(cuts_rows) {
  for (mlir::Value v : kernel.getBody().front().getTerminator()->getOperands()) results_.push_back(v);
  alias_.assign(results_.size(), -1);
  const llvm::ArrayRef<int64_t> alias = exec::GetAliases(kernel);
  for (unsigned i = 0; i < alias_.size() && i < alias.size(); ++i) alias_[i] = static_cast<int>(alias[i]);
  const bool sums = kind_ == exec::KernelKind::kCol;
  for (mlir::Operation& op : kernel.getBody().front().without_terminator()) {
    const auto follows = [&](mlir::Value v) {
      return epilogue_.contains(v) || (v.getDefiningOp() != nullptr && IsBatchReduce(v.getDefiningOp()));
    };
    if (!sums || llvm::none_of(op.getOperands(), follows)) continue;
    epilogue_.insert(op.result_begin(), op.result_end());
  }
  for (unsigned r = 0; r < results_.size(); ++r) {
    mlir::Operation* op = results_[r].getDefiningOp();
    const bool sum = op != nullptr && IsBatchReduce(op), epilogue = sums && !td::IsBatched(results_[r].getType());
    (sum ? batch_reduces_ : epilogue ? epilogue_results_ : plain_results_).push_back(r);
  }
}

mlir::Value GpuKernelBuilder::Number(unsigned i) {
  return Index(f_.getArgument(kernel_.getNumArguments() + results_.size() + i));
}

ElementEmitter::Buffer GpuKernelBuilder::ResultBuffer(unsigned result) {
  return {f_.getArgument(kernel_.getNumArguments() + result)};
}

mlir::Value GpuKernelBuilder::Counters() {
  return f_.getArgument(kernel_.getNumArguments() + results_.size() + kScratch);
}

mlir::Value GpuKernelBuilder::Scratch() { return Offset(Counters(), Int(kGpuCounterBytes)); }

void GpuKernelBuilder::BindOperands(ElementEmitter& e) {
  for (unsigned i = 0; i < kernel_.getNumArguments(); ++i) e.Bind(kernel_.getArgument(i), {f_.getArgument(i)});
  // A shared buffer is one pointer for LLVM, so that it sees that an element is read before it is written.
  for (unsigned r = 0; r < alias_.size(); ++r) {
    if (alias_[r] >= 0) e.Bind(kernel_.getArgument(alias_[r]), ResultBuffer(r));
  }
}

void GpuKernelBuilder::Function(const std::string& name, const std::function<void(ElementEmitter&)>& body) {
  mlir::Type pointer = LLVM::LLVMPointerType::get(b_.getContext()), i64 = b_.getI64Type();
  const unsigned buffers = kernel_.getNumArguments() + results_.size();
  llvm::SmallVector<mlir::Type> types(buffers, pointer);
  types.append({i64, i64, i64, pointer, pointer});
  b_.setInsertionPointToEnd(module_.getBody());
  f_ = b_.create<LLVM::LLVMFuncOp>(loc_, name,
                                   LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), types));
  f_.setPassthroughAttr(b_.getArrayAttr({b_.getStringAttr("nounwind")}));
  for (unsigned i = 0; i < buffers; ++i) {
    // Threads never read what others wrote to a result: they exchange values through shared memory or `scratch` only.
    f_.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b_.getUnitAttr());
    mlir::Type type = i < kernel_.getNumArguments() ? kernel_.getArgument(i).getType()
                                                    : results_[i - kernel_.getNumArguments()].getType();
    // The step's scalars are 8 bytes apart; all other buffers are aligned to at least 16 bytes.
    const bool scalar = !td::IsBatched(type) && InnerSize(type) == 1;
    const int64_t align = scalar ? BytesOf(mlir::getElementTypeOrSelf(type)) : 16;
    f_.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b_.getI64IntegerAttr(align));
  }
  f_.setArgAttr(buffers + kScratch, LLVM::LLVMDialect::getAlignAttrName(), b_.getI64IntegerAttr(16));
  b_.setInsertionPointToStart(f_.addEntryBlock(b_));

  mlir::Value guard = f_.getArgument(buffers + kGuard);
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
  b_.create<LLVM::ReturnOp>(loc_, mlir::ValueRange{});
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
  const bool elementwise = kind_ == exec::KernelKind::kLoop || kind_ == exec::KernelKind::kFlat,
             once = kind_ == exec::KernelKind::kOnce;
  const std::optional<Factors> attention = AttentionFactors(kernel_, arch);
  if (!attention && !elementwise && kind_ != exec::KernelKind::kRow && kind_ != exec::KernelKind::kCol && !once) {
    return absl::UnimplementedError(absl::StrCat(
        "kernel ", symbol_, " of kind \"", exec::stringifyKernelKind(kind_).str(), "\" cannot be compiled for GPUs"));
  }
  for (unsigned r = 0; r < results_.size(); ++r) {
    if (alias_[r] >= 0 && !MayAlias(kernel_, alias_[r], r)) {
      return absl::InternalError(
          absl::StrCat("kernel ", symbol_, ": result ", r, " may not share operand ", alias_[r], "'s buffer"));
    }
    const bool summed = llvm::is_contained(batch_reduces_, r) || llvm::is_contained(epilogue_results_, r);
    if (!once && ((summed && elementwise) || (!summed && !td::IsBatched(results_[r].getType())))) {
      return absl::InternalError(absl::StrCat("kernel ", symbol_, ": result ", r, " has no batch axis, which a ",
                                              exec::stringifyKernelKind(kind_).str(), " kernel needs"));
    }
  }
  index_bits_ = 32;
  const bool reduces = llvm::any_of(kernel_.getBody().front(), [](mlir::Operation& op) { return IsReduceOp(&op); });
  if (attention) {
    EmitAttentionKernel(*attention);
  } else if (elementwise || (once && !reduces)) {
    EmitLoopKernel();
  } else if (FitsColumns()) {
    EmitColumnKernel();
  } else if (ReducesOverGrid()) {
    EmitGridReduceKernel();
  } else {
    EmitRowKernel(!once);
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
