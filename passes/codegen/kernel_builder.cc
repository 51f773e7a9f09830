#include "passes/codegen/kernel_builder.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/register_type.h"
#include "passes/codegen/emitter.h"
#include "passes/codegen/kernel_entry.h"

namespace tandem {

namespace LLVM = mlir::LLVM;

void KernelBuilder::Begin(const std::string& name, unsigned numbers) {
  BeginFunction(name, llvm::SmallVector<mlir::Type>(numbers, b_.getI64Type()), LLVM::Linkage::Internal);
  // This function is never inlined into the entry: only arguments can be marked as not overlapping, and all rows must
  // run the same code.
  f_.setPassthroughAttr(b_.getArrayAttr({b_.getStringAttr("noinline"), b_.getStringAttr("nounwind")}));
  accumulators_.clear();
  for (unsigned r = 0; r < results_.size(); ++r) accumulators_.push_back(ResultBuffer(r));
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

void KernelBuilder::ForEachSum(ElementEmitter& e, const std::function<void(unsigned, mlir::ValueRange)>& body) {
  for (unsigned r : batch_reduces_) {
    mlir::Type type = results_[r].getType();
    EmitNest(e, loc_, {.radices = Radices(type)},
             [&](const Point& point) { body(r, IndicesAt(e, loc_, point, type)); });
  }
}

void KernelBuilder::EmitNeutral(ElementEmitter& e) {
  ForEachSum(e, [&](unsigned r, mlir::ValueRange at) {
    mlir::Type type = results_[r].getType(), element = td::RegisterType(mlir::getElementTypeOrSelf(type));
    const td::ReduceKind kind = BatchReductionOf(results_[r].getDefiningOp())->kind;
    e.Store(loc_, type, accumulators_[r], at, NeutralElement(b_, loc_, kind, element));
  });
}

void KernelBuilder::EmitLoopKernel() {
  Begin(symbol_ + ".body", 3);
  const Space rows = {.rows = Space::Rows::kLoop, .begin = Number(0), .end = Number(1)};
  ElementEmitter e(b_, Number(2));
  BindOperands(e);
  for (const auto& group : GroupBySize(results_, plain_results_)) EmitStores(e, rows, group);
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

extern const Emitter kLoopEmitter = {
    "loops", [](mlir::func::FuncOp) { return true; },
    [](const EmitRequest& request) { return KernelBuilder(request.kernel, request.module, request.symbol).Emit(); }};

}  // namespace tandem
