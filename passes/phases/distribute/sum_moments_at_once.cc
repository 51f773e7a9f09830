// td-sum-moments-at-once: computes the mean and the variance of a batch while reading it once (passes/Passes.td).
#include "graph/ir/binary.h"
#include "graph/ir/build.h"
#include "graph/ir/norm.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/contraction/measure_step.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_SUMMOMENTSATONCEPASS
#include "passes/passes.h.inc"

namespace {

using mlir::Value;

void SumAtOnce(td::BatchMomentsOp op) {
  mlir::OpBuilder b(op);
  const mlir::Location loc = op.getLoc();
  const mlir::Type f64 = b.getF64Type();
  const auto x_type = llvm::cast<mlir::RankedTensorType>(op.getInput().getType());
  const auto all_but_channels = llvm::to_vector(llvm::seq<int64_t>(0, x_type.getRank() - 1));
  const Value x = td::BuildCast(b, loc, op.getInput(), f64);
  const auto sum = [&](Value v) {
    return td::BuildReduce(b, loc, td::ReduceKind::kSum, v, all_but_channels, op.getScope());
  };
  const Value sums = sum(x), squares = sum(td::BuildMul(b, loc, x, x));
  const Value count = td::BuildElementsOfChannel(b, loc, x, op.getCount(), td::TypeOf(sums));
  const Value mean = td::BuildDiv(b, loc, sums, count);
  const Value mean_of_squares = td::BuildDiv(b, loc, squares, count);
  const Value difference = td::BuildSub(b, loc, mean_of_squares, td::BuildMul(b, loc, mean, mean));
  // If all elements are equal, rounding may make the difference negative; the maximum makes it 0. A NaN stays NaN.
  const Value variance = b.create<td::MaxOp>(loc, difference, td::BuildSplat(b, loc, sums.getType(), 0));
  const mlir::Type element = x_type.getElementType();
  op.replaceAllUsesWith(
      mlir::ValueRange{td::BuildCast(b, loc, mean, element), td::BuildCast(b, loc, variance, element)});
  op.erase();
}

class SumMomentsAtOncePass : public impl::SumMomentsAtOncePassBase<SumMomentsAtOncePass> {
 public:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    const absl::StatusOr<MachineModel> machine = MachineModelOf(module);
    if (!machine.ok()) {
      module->emitError() << std::string(machine.status().message());
      return signalPassFailure();
    }
    if (!TargetOf(module)->SumsDoublesAtOnce(*machine)) return;
    llvm::SmallVector<td::BatchMomentsOp> ops;
    module.walk([&](td::BatchMomentsOp op) { ops.push_back(op); });
    for (td::BatchMomentsOp op : ops) SumAtOnce(op);
  }
};

}  // namespace

}  // namespace tandem
