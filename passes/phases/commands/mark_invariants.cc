// td-mark-invariants: marks commands that need not run in every step, because their operands do not change
// (passes/Passes.td).
#include "graph/ir/shape.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/values_of_variables.h"
#include "passes/base/passes.h"
#include "passes/phases/commands/commands.h"

namespace tandem {

#define GEN_PASS_DEF_MARKINVARIANTSPASS
#include "passes/passes.h.inc"

namespace {

// A read or a write of bytes in the step arena by the command `op`; null: the caller of the program reads them.
struct Access {
  mlir::Operation* op;
  bool writes;
  Place place;
};

class MarkInvariantsPass : public impl::MarkInvariantsPassBase<MarkInvariantsPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = CpuStep(getOperation());
    if (!step) return;
    const Places places(getOperation());
    mlir::Block& block = step.getBody().front();
    const std::vector<mlir::Operation*> commands = CommandsOf(block);
    NoteAccesses(places, commands, block.getTerminator());

    const llvm::DenseSet<mlir::Value> values = ValuesOfVariables(step, Variables::kNotUpdated);
    llvm::DenseSet<mlir::Operation*> invariant;
    for (mlir::Operation* op : commands) {
      const bool in_arena =
          llvm::all_of(op->getResults(), [&](mlir::Value v) { return places.Buffer(v).space == exec::Space::kStep; });
      const bool follows = llvm::all_of(op->getResults(), [&](mlir::Value v) { return values.contains(v); });
      if (op->getNumResults() > 0 && in_arena && follows) invariant.insert(op);
    }
    // If another command overwrites a result, the next step cannot read it any more. So the command that computes it is
    // not invariant, and neither are the commands that read it.
    for (bool changed = true; changed;) {
      changed = false;
      for (mlir::Operation* op : commands) {
        if (!invariant.contains(op)) continue;
        const auto stays = [&](mlir::Value v) { return Stays(places.Of(v), op, invariant); };
        if (llvm::all_of(op->getResults(), stays) &&
            llvm::all_of(op->getOperands(), [&](mlir::Value v) { return IsReadRight(v, invariant); })) {
          continue;
        }
        invariant.erase(op);
        changed = true;
      }
    }
    for (mlir::Operation* op : commands) {
      if (!invariant.contains(op)) continue;
      Execution execution = GetExecution(op);
      execution.invariant = true;
      SetExecution(op, execution);
    }
  }

 private:
  void NoteAccesses(const Places& places, llvm::ArrayRef<mlir::Operation*> commands, mlir::Operation* terminator) {
    accesses_.clear();
    const auto note = [&](mlir::ValueRange values, mlir::Operation* op, bool writes) {
      for (mlir::Value v : values) {
        const Place place = places.Of(v);
        if (place.space == exec::Space::kStep) accesses_.push_back({op, writes, place});
      }
    };
    for (mlir::Operation* op : commands) {
      note(op->getOperands(), op, false);
      note(op->getResults(), op, true);
    }
    note(terminator->getOperands(), nullptr, false);
  }

  // True if invariant commands may rely on what `writer` stores at `place`: no other command writes there, or all
  // commands that read or write it are invariant themselves, so that the place only passes values between these.
  bool Stays(const Place& place, mlir::Operation* writer, const llvm::DenseSet<mlir::Operation*>& invariant) const {
    bool written_once = true, invariant_only = true;
    for (const Access& a : accesses_) {
      if (!a.place.Overlaps(place)) continue;
      if (a.writes && a.op != writer) written_once = false;
      if (a.op == nullptr || !invariant.contains(a.op)) invariant_only = false;
    }
    return written_once || invariant_only;
  }

  // True if an invariant command may read `v`: a variable, a constant, or a result of an invariant command.
  static bool IsReadRight(mlir::Value v, const llvm::DenseSet<mlir::Operation*>& invariant) {
    while (auto view = v.getDefiningOp<td::ReshapeOp>()) v = view.getInput();
    mlir::Operation* op = v.getDefiningOp();
    return op == nullptr || !IsCommand(*op) || invariant.contains(op);
  }

  std::vector<Access> accesses_;
};

}  // namespace

}  // namespace tandem
