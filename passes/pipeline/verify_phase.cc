// The passes td-verify-PHASE: check what must hold at the end of each phase (passes/Passes.td).
#include "graph/ir/dist.h"
#include "graph/ir/gather.h"
#include "graph/ir/replica_values.h"
#include "graph/ir/shape.h"
#include "graph/ir/state.h"
#include "graph/ir/unary.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "passes/analysis/batch_axis.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/base/step_signature.h"
#include "passes/exec/dialect.h"
#include "passes/phases/commands/commands.h"
#include "passes/phases/memory/buffer_table.h"

namespace tandem {

#define GEN_PASS_DEF_VERIFYINPUTPASS
#define GEN_PASS_DEF_VERIFYPRECISIONPASS
#define GEN_PASS_DEF_VERIFYDISTRIBUTEPASS
#define GEN_PASS_DEF_VERIFYLAYOUTPASS
#define GEN_PASS_DEF_VERIFYFUSIONPASS
#define GEN_PASS_DEF_VERIFYSCHEDULEPASS
#define GEN_PASS_DEF_VERIFYMEMORYPASS
#define GEN_PASS_DEF_VERIFYCOMMANDSPASS
#include "passes/passes.h.inc"

namespace {

class PhaseVerifier {
 public:
  PhaseVerifier(mlir::ModuleOp module, llvm::StringRef phase) : module_(module), phase_(phase) {}

  // Runs all checks of the phase. Returns false, after emitting errors, if one fails.
  bool Run() {
    CheckPhase();
    // The pipeline runs MLIR's verifier only here: after every pass it would take as long as the passes.
    return ok_ && mlir::succeeded(mlir::verify(module_));
  }

 private:
  void CheckPhase() {
    mlir::func::FuncOp step = StepFunction(module_);
    if (!step) return Check(module_.emitError() << "has no function @step at the end of phase " << phase_);
    if (mlir::failed(VerifyStepSignature(step)) || mlir::failed(VerifyStepVariables(module_, step))) {
      return Check(mlir::failure());
    }
    Check(VerifyPure(step));
    const bool graph = phase_ == "input" || phase_ == "precision";
    // Later phases are not checked for this: a kernel then has several results, of which some may differ between
    // replicas.
    if (graph || phase_ == "distribute") Check(VerifyReplicasAgree(step));
    if (graph) return;
    Check(VerifyDistributed(step));
    Check(VerifyCombined(step));
    if (phase_ == "distribute") return;
    Check(VerifyLibraries(step));
    if (phase_ == "layout") return;
    Check(VerifyFused(step));
    if (phase_ == "fusion" || phase_ == "schedule") return;
    Check(VerifyBuffers(step));
    if (phase_ == "commands") Check(VerifyExecution(step));
  }

  void Check(mlir::LogicalResult result) { ok_ = ok_ && mlir::succeeded(result); }

  static mlir::LogicalResult VerifyPure(mlir::func::FuncOp step) {
    for (mlir::Operation& op : step.getBody().front()) {
      if (mlir::isa<td::InputOp, td::ScalarOp, td::ReadOp, td::AssignOp, td::OutputOp, td::CheckFiniteOp>(op)) {
        return op.emitError() << "is left in @step, which must be pure";
      }
    }
    return mlir::success();
  }

  // Checks that all replicas compute the same updates: they keep copies of variables, and a single update that differs
  // would turn them into different models.
  mlir::LogicalResult VerifyReplicasAgree(mlir::func::FuncOp step) {
    if (ConfigOf(module_).getReplicas() == 1) return mlir::success();
    td::ReplicaValues replicas;
    for (mlir::OpOperand& operand : step.getBody().front().getTerminator()->getOpOperands()) {
      mlir::Value value = operand.get();
      if (td::IsBatched(value.getType()) || !replicas.Vary(value)) continue;
      const unsigned i = operand.getOperandNumber();
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step, i);
      mlir::InFlightDiagnostic error = mlir::emitError(value.getLoc());
      if (update) {
        error << "the update of " << update;
      } else if (td::IsChecked(step, i)) {
        error << "a value of td.check_finite";
      } else {
        error << "the output " << td::OutputOf(step, i);
      }
      error << " differs between replicas: td.cross_replica has to combine it";
      if (mlir::Operation* origin = replicas.Origin(value)) error.attachNote(origin->getLoc()) << "made from rows here";
      return mlir::failure();
    }
    return mlir::success();
  }

  mlir::LogicalResult VerifyCombined(mlir::func::FuncOp step) {
    if (ConfigOf(module_).getReplicas() == 1) return mlir::success();
    for (mlir::Operation& op : step.getBody().front()) {
      if (mlir::isa<td::CrossReplicaOp>(op)) return op.emitError() << "is left behind td-insert-all-reduce";
      if (mlir::isa<exec::AllReduceOp, exec::LaneReduceOp, td::CastOp>(op) || RoundsForAllReduce(op)) continue;
      for (mlir::Value v : op.getOperands()) {
        if (!IsPart(v)) continue;
        mlir::InFlightDiagnostic error = op.emitError() << "reads one replica's part of a sum over all replicas";
        error.attachNote(v.getLoc()) << "which exec.all_reduce has to combine";
        return mlir::failure();
      }
    }
    return mlir::success();
  }

  // True for a launch of a kernel that only all-reduces read: it casts gradients to the type in which they are combined
  // (td-insert-all-reduce).
  static bool RoundsForAllReduce(mlir::Operation& op) {
    auto command = mlir::dyn_cast<exec::CommandOp>(op);
    return command && command.getLaunchedKernel() &&
           llvm::all_of(op.getUsers(), [](mlir::Operation* user) { return mlir::isa<exec::AllReduceOp>(user); });
  }

  // True if `value` is one replica's part of a sum over the rows of all replicas.
  static bool IsPart(mlir::Value value) {
    mlir::Operation* op = value.getDefiningOp();
    if (!op || td::IsBatched(value.getType())) return false;
    if (BatchAxis::ReadsAllRows(op)) return true;
    if (auto reduce = mlir::dyn_cast<exec::LaneReduceOp>(op)) {
      return IsPart(reduce.getOperand(mlir::cast<mlir::OpResult>(value).getResultNumber()));
    }
    if (auto cast = mlir::dyn_cast<td::CastOp>(op)) return IsPart(cast.getOperand());
    auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(op);
    if (!map) return false;
    const unsigned i = mlir::cast<mlir::OpResult>(value).getResultNumber();
    return map.getScopeOf(i) == td::BatchScope::kGlobal;
  }

  mlir::LogicalResult VerifyDistributed(mlir::func::FuncOp step) {
    int64_t seq = 0;
    for (mlir::Operation& op : step.getBody().front().without_terminator()) {
      if (mlir::isa<exec::MapMicrobatchesOp>(op)) continue;
      for (mlir::Value v : op.getResults()) {
        if (td::IsBatched(v.getType())) return op.emitError() << "works on batched values outside a map";
      }
      if (auto all_reduce = mlir::dyn_cast<exec::AllReduceOp>(op)) {
        if (all_reduce.getSeq() != seq++) return op.emitError() << "is not numbered in program order";
      }
    }
    for (auto replica : module_.getOps<exec::ReplicaOp>()) {
      if (!module_.lookupSymbol<mlir::func::FuncOp>(replica.getBody())) {
        return replica.emitError() << "has no body " << replica.getBody();
      }
    }
    return mlir::success();
  }

  static mlir::LogicalResult VerifyLibraries(mlir::func::FuncOp step) {
    mlir::WalkResult result = step.walk([](td::LibraryOp op) {
      // Ops that can be fused may be left to generated kernels.
      if (td::FusionKindOf(op) != td::FusionKind::kNone) return mlir::WalkResult::advance();
      op.emitError() << "has a library primitive but was not selected for it";
      return mlir::WalkResult::interrupt();
    });
    return mlir::failure(result.wasInterrupted());
  }

  static mlir::LogicalResult VerifyFused(mlir::func::FuncOp step) {
    mlir::WalkResult result = step.walk([&](mlir::Operation* op) {
      bool known =
          op == step.getOperation() || mlir::matchPattern(op, mlir::m_Constant()) ||
          mlir::isa<exec::CommandOp, td::ReshapeOp, exec::MapMicrobatchesOp, exec::YieldOp, mlir::func::ReturnOp>(op);
      if (known) return mlir::WalkResult::advance();
      op->emitError() << "is in no kernel at the end of phase fusion";
      return mlir::WalkResult::interrupt();
    });
    return mlir::failure(result.wasInterrupted());
  }

  mlir::LogicalResult VerifyExecution(mlir::func::FuncOp step) {
    if (!CpuStep(module_)) return mlir::success();
    const std::vector<mlir::Operation*> commands = CommandsOf(step.getBody().front());
    const Places places(module_);
    for (size_t i = 0; i < commands.size(); ++i) {
      mlir::Operation* op = commands[i];
      if (mlir::failed(VerifyOverlap(places, llvm::ArrayRef(commands).drop_front(i)))) return mlir::failure();
      const int64_t together = GetExecution(op).together;
      if (together < 1 || together > static_cast<int64_t>(commands.size() - i)) {
        return op->emitError() << "runs together with " << together - 1 << " commands behind it, and there are "
                               << commands.size() - i - 1;
      }
      if (auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(op)) {
        if (mlir::failed(VerifySlots(map))) return mlir::failure();
      } else if (auto launch = mlir::dyn_cast<exec::LaunchOp>(op)) {
        if (exec::BlockUpdateAttr u = GetBlockUpdate(launch)) {
          if (!FindBlockUpdate(launch, u)) return op->emitError() << "has no check and update as its " << u << " says";
        }
      }
    }
    return mlir::success();
  }

  // Checks `overlap` of the first of `commands`, which are in program order: the number of commands behind an
  // all-reduce that may run while it sends. None of them may touch its operands.
  static mlir::LogicalResult VerifyOverlap(const Places& places, llvm::ArrayRef<mlir::Operation*> commands) {
    mlir::Operation* op = commands[0];
    const int64_t overlap = GetExecution(op).overlap;
    if (overlap == 0) return mlir::success();
    if (!mlir::isa<exec::AllReduceOp>(op))
      return op->emitError() << "overlaps with commands, and is no exec.all_reduce";
    if (overlap < 0 || overlap >= static_cast<int64_t>(commands.size())) {
      return op->emitError() << "overlaps with " << overlap << " commands behind it, and there are "
                             << commands.size() - 1;
    }
    for (mlir::Operation* other : commands.slice(1, overlap)) {
      if (IsBorder(other)) {
        return op->emitError() << "overlaps with " << other->getName();
      }
      if (places.Conflict(op, other)) return other->emitError() << "touches what an all-reduce under way combines";
    }
    return mlir::success();
  }

  static mlir::LogicalResult VerifySlots(exec::MapMicrobatchesOp map) {
    for (mlir::OpResult result : map->getOpResults()) {
      if (map.getCombine(result.getResultNumber()) == exec::Combine::kKeep) continue;
      for (mlir::Operation* user : result.getUsers()) {
        if (!mlir::isa<exec::LaneReduceOp>(user)) return user->emitError() << "reads the slots of lanes";
      }
    }
    return mlir::success();
  }

  mlir::ModuleOp module_;
  llvm::StringRef phase_;
  bool ok_ = true;
};

template <template <typename> class Base>
class VerifyPhasePass : public Base<VerifyPhasePass<Base>> {
 public:
  void runOnOperation() final {
    llvm::StringRef phase = this->getArgument();
    phase.consume_front("td-verify-");
    if (!PhaseVerifier(this->getOperation(), phase).Run()) this->signalPassFailure();
  }
};

template class VerifyPhasePass<impl::VerifyInputPassBase>;
template class VerifyPhasePass<impl::VerifyPrecisionPassBase>;
template class VerifyPhasePass<impl::VerifyDistributePassBase>;
template class VerifyPhasePass<impl::VerifyLayoutPassBase>;
template class VerifyPhasePass<impl::VerifyFusionPassBase>;
template class VerifyPhasePass<impl::VerifySchedulePassBase>;
template class VerifyPhasePass<impl::VerifyMemoryPassBase>;
template class VerifyPhasePass<impl::VerifyCommandsPassBase>;

}  // namespace
}  // namespace tandem
