// td-group-preparations: lets commands that pack or transform weights run at the same time (passes/Passes.td).
#include "passes/base/passes.h"
#include "passes/phases/commands/commands.h"

namespace tandem {

#define GEN_PASS_DEF_GROUPPREPARATIONSPASS
#include "passes/passes.h.inc"

namespace {

class GroupPreparationsPass : public impl::GroupPreparationsPassBase<GroupPreparationsPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = CpuStep(getOperation());
    if (!step) return;
    const Places places(getOperation());
    const std::vector<mlir::Operation*> commands = CommandsOf(step.getBody().front());
    for (size_t first = 0, last; first < commands.size(); first = last) {
      last = first + 1;
      while (last < commands.size() &&
             Joins(places, llvm::ArrayRef(commands).slice(first, last - first), *commands[last])) {
        ++last;
      }
      Execution execution = GetExecution(commands[first]);
      execution.together = static_cast<int64_t>(last - first);
      if (execution.together > 1) SetExecution(commands[first], execution);
    }
  }

 private:
  // True for ops that pack weights, and for launches of elementwise kernels that are large enough to occupy a thread.
  static bool Prepares(mlir::Operation& op) {
    if (auto call = mlir::dyn_cast<exec::LibraryCallOp>(op)) return mlir::isa<exec::PackWeightsAttr>(call.getCall());
    return LaunchedDomain(&op) == format::Domain::kElements && !GetExecution(&op).run_inline;
  }

  static bool Joins(const Places& places, llvm::ArrayRef<mlir::Operation*> group, mlir::Operation& next) {
    if (!Prepares(*group[0]) || !Prepares(next)) return false;
    if (GetExecution(group[0]).invariant != GetExecution(&next).invariant) return false;
    return WritesStepOnly(places, *group[0]) && WritesStepOnly(places, next) &&
           llvm::none_of(group, [&](mlir::Operation* op) { return places.Conflict(op, &next); });
  }

  static bool WritesStepOnly(const Places& places, mlir::Operation& op) {
    return llvm::all_of(op.getResults(), [&](mlir::Value v) { return places.Of(v).space == exec::Space::kStep; });
  }
};

}  // namespace

}  // namespace tandem
