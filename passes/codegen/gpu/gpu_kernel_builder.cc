#include "passes/codegen/gpu/gpu_kernel_builder.h"

#include "base/status_macros.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "runtime/commands/gpu_launch.h"

namespace tandem {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;

GpuKernelBuilder::GpuKernelBuilder(const GpuRequest& request)
    : KernelContext(request.kernel, request.module, request.symbol), rows_(request.rows), device_(b_, request.module) {}

mlir::Value GpuKernelBuilder::Scratch() { return Offset(Counters(), Int(kGpuCounterBytes)); }

void GpuKernelBuilder::Function(const std::function<void(ElementEmitter&)>& body) {
  mlir::Type pointer = LLVM::LLVMPointerType::get(b_.getContext()), i64 = b_.getI64Type();
  // BeginFunction says that no buffer aliases another one. That is right because no thread reads what others wrote to a
  // result: they exchange values through shared memory or `scratch` only.
  BeginFunction(symbol_, {i64, i64, i64, pointer, pointer}, LLVM::Linkage::External);
  f_.setPassthroughAttr(b_.getArrayAttr({b_.getStringAttr("nounwind")}));
  const auto set_alignment = [&](unsigned argument, int64_t bytes) {
    f_.setArgAttr(argument, LLVM::LLVMDialect::getAlignAttrName(), b_.getI64IntegerAttr(bytes));
  };
  for (unsigned i = 0; i < num_buffers(); ++i) {
    mlir::Type type = i < kernel_.getNumArguments() ? kernel_.getArgument(i).getType()
                                                    : results_[i - kernel_.getNumArguments()].getType();
    // The step's scalars are 8 bytes apart, so a buffer of one element has only its type's alignment; all other buffers
    // are aligned to at least 16 bytes.
    const bool scalar = !td::IsBatched(type) && InnerSize(type) == 1;
    set_alignment(i, scalar ? StorageBytes(mlir::getElementTypeOrSelf(type)) : 16);
  }
  set_alignment(num_buffers() + kScratch, 16);

  mlir::Value guard = Argument(kGuard);
  mlir::Value null = b_.create<LLVM::ZeroOp>(loc_, pointer);
  mlir::Value guarded = b_.create<LLVM::ICmpOp>(loc_, LLVM::ICmpPredicate::ne, guard, null);
  mlir::Value zero = b_.create<arith::ConstantOp>(loc_, b_.getI32IntegerAttr(0));
  const auto load = [&] { return Values{b_.create<LLVM::LoadOp>(loc_, b_.getI32Type(), guard)}; };
  mlir::Value flag = If(guarded, zero.getType(), load, [&] { return Values{zero}; })[0];
  mlir::Value runs = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::eq, flag, zero);
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

absl::Status GpuKernelBuilder::Emit() {
  TD_RETURN_IF_ERROR(Check());
  index_bits_ = 32;
  EmitThread();
  const bool small_scratch = plan_.scratch_bytes < (int64_t{1} << 31);
  if (kind_ == exec::KernelKind::kFlat || !small_scratch || !HasSmallIndices(kernel_, module_, rows_)) index_bits_ = 64;
  // Indices stay within buffers, so no index arithmetic overflows. LLVM joins neighbouring loads only if it is told so.
  module_.walk([&](mlir::Operation* op) {
    if (!mlir::isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || !op->getResult(0).getType().isIndex()) return;
    op->setAttr("overflowFlags",
                arith::IntegerOverflowFlagsAttr::get(op->getContext(), arith::IntegerOverflowFlags::nsw));
  });
  return status_;
}

void GpuKernelBuilder::ForRuns(mlir::Value lane, int64_t lanes, int64_t runs,
                               const std::function<void(mlir::Value, mlir::Value)>& body) {
  for (int64_t first = 0; first < runs; first += lanes) {
    mlir::Value run = Add(lane, Int(first));
    if (first + lanes <= runs) {
      body(run, nullptr);
    } else {
      body(Min(run, Int(runs - 1)), Less(run, Int(runs)));
    }
  }
}

void GpuKernelBuilder::ForElements(ElementEmitter& e, const Team& team, const Space& row, mlir::Type type,
                                   const std::function<void(llvm::ArrayRef<Point>)>& body) {
  Space space = row;
  if (!td::IsBatched(type)) space.rows = Space::Rows::kNone;
  space.radices = KernelRadices(kernel_, type);
  const LinearSpace linear(e, loc_, space, /*border=*/0, [&](const Point& point) { body({point}); });
  const int width = linear.size() == 1 ? 1 : linear.width();
  For(team.lane, Int(linear.size() / width), team.size,
      [&](mlir::Value run) { body(linear.At(Mul(run, width), width)); });
}

std::optional<unsigned> GpuKernelBuilder::TakeResult(mlir::Value v, std::vector<unsigned>& late) const {
  const auto found = llvm::find(results_, v);
  if (found == results_.end()) return std::nullopt;
  const unsigned r = found - results_.begin();
  late.erase(std::remove(late.begin(), late.end(), r), late.end());
  return r;
}

mlir::Value GpuKernelBuilder::IsLastBlock(ElementEmitter& e, mlir::Value counter, mlir::Value count) {
  plan_.shared_bytes = std::max<int64_t>(plan_.shared_bytes, 16);
  const auto flag = mlir::RankedTensorType::get({1}, b_.getI32Type());
  device_.SyncBlock(loc_);  // now the block has written its partial sums and does not use its shared memory any more
  If(Less(thread_, Int(1)), [&] {
    mlir::Value address = Offset(Counters(), Mul(counter, sizeof(int32_t)));
    mlir::Value blocks = b_.create<mlir::arith::IndexCastOp>(loc_, b_.getI32Type(), count);
    e.Store(loc_, flag, {shared_}, {Int(0)}, device_.Arrive(loc_, address, blocks));
  });
  device_.SyncBlock(loc_);
  mlir::Value last = e.Load(loc_, flag, {shared_}, {Int(0)});
  device_.SyncBlock(loc_);
  mlir::Value zero = b_.create<mlir::arith::ConstantOp>(loc_, b_.getI32IntegerAttr(0));
  return b_.create<mlir::arith::CmpIOp>(loc_, mlir::arith::CmpIPredicate::ne, last, zero);
}

}  // namespace tandem
