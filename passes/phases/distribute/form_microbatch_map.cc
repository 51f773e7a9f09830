// td-form-microbatch-map: moves all ops on batched values into loops over microbatches (exec.map_microbatches)
// (passes/Passes.td).
#include "graph/ir/dist.h"
#include "graph/ir/replica_values.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/batch_axis.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/contraction/measure_step.h"
#include "passes/exec/dialect.h"
#include "passes/phases/distribute/microbatch_sizes.h"
#include "passes/target/target.h"
#include "runtime/commands/lane_count.h"

namespace tandem {

#define GEN_PASS_DEF_FORMMICROBATCHMAPPASS
#include "passes/passes.h.inc"

namespace {

bool IsConstant(mlir::Value v) { return v.getDefiningOp() && mlir::matchPattern(v, mlir::m_Constant()); }

// Returns the scope of a sum over the batch: kReplica if the op says so, else kGlobal.
td::BatchScope ScopeOf(mlir::Operation* op) {
  return td::HasReplicaScope(op) ? td::BatchScope::kReplica : td::BatchScope::kGlobal;
}

exec::Combine CombineOf(mlir::Operation* op) {
  return BatchRuleOf(op) == td::BatchRule::kBatchMax ? exec::Combine::kMax : exec::Combine::kSum;
}

// Builds the map (the loop over microbatches) for the ops of one level.
class MapBuilder {
 public:
  MapBuilder(const BatchAxis& axis, int level, MicrobatchSizes sizes, mlir::OpBuilder& builder, mlir::IRMapping& top)
      : axis_(axis), level_(level), sizes_(sizes), builder_(builder), top_(top) {}

  void Build(llvm::ArrayRef<mlir::Operation*> ops, mlir::Location loc) {
    Collect(ops);
    llvm::SmallVector<mlir::Value> operands;
    for (mlir::Value v : operands_) operands.push_back(top_.lookup(v));
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Attribute> combines, scopes;
    for (mlir::Value v : results_) {
      bool keep = td::IsBatched(v.getType());
      types.push_back(v.getType());
      const exec::Combine combine = keep ? exec::Combine::kKeep : CombineOf(v.getDefiningOp());
      const td::BatchScope scope = keep ? td::BatchScope::kReplica : ScopeOf(v.getDefiningOp());
      combines.push_back(exec::CombineAttr::get(builder_.getContext(), combine));
      scopes.push_back(td::BatchScopeAttr::get(builder_.getContext(), scope));
    }
    auto map = builder_.create<exec::MapMicrobatchesOp>(loc, types, operands, builder_.getArrayAttr(combines),
                                                        builder_.getArrayAttr(scopes), sizes_.lanes,
                                                        sizes_.rows_per_lane, sizes_.microbatch_rows);
    mlir::Block* body = builder_.createBlock(&map.getBody());
    mlir::IRMapping inside;
    for (mlir::Value v : operands_) inside.map(v, body->addArgument(v.getType(), v.getLoc()));
    for (mlir::Operation* op : body_ops_) builder_.clone(*op, inside);
    llvm::SmallVector<mlir::Value> yields;
    for (mlir::Value v : results_) yields.push_back(inside.lookup(v));
    builder_.create<exec::YieldOp>(loc, yields);
    builder_.setInsertionPointAfter(map);
    for (auto [v, r] : llvm::zip(results_, map.getResults())) top_.map(v, r);
  }

 private:
  // Adds `op` to the map's body. Constants, and ops that compute batched values from unbatched ones, are repeated in
  // the map: those that `op` reads are added before it.
  void AddBodyOp(mlir::Operation* op) {
    if (body_ops_.contains(op)) return;
    for (mlir::Value v : op->getOperands()) {
      mlir::Operation* producer = v.getDefiningOp();
      if (producer && (IsConstant(v) || axis_.CreatesBatch(producer))) {
        AddBodyOp(producer);
      } else if (!producer || !axis_.IsMapOp(producer) || axis_.Level(producer) != level_ ||
                 !td::IsBatched(v.getType())) {
        operands_.insert(v);
      }
    }
    body_ops_.insert(op);
  }

  void Collect(llvm::ArrayRef<mlir::Operation*> ops) {
    for (mlir::Operation* op : ops) AddBodyOp(op);
    for (mlir::Operation* op : ops) {
      for (mlir::Value v : op->getResults()) {
        bool used_outside = llvm::any_of(v.getUsers(), [&](mlir::Operation* user) {
          return !axis_.IsMapOp(user) || user->hasTrait<mlir::OpTrait::IsTerminator>() || axis_.Level(user) != level_;
        });
        if (used_outside) results_.push_back(v);
      }
    }
  }

  const BatchAxis& axis_;
  int level_;
  MicrobatchSizes sizes_;
  mlir::OpBuilder& builder_;
  mlir::IRMapping& top_;  // maps values of the step's old body to those of the new body
  llvm::SetVector<mlir::Operation*> body_ops_;
  llvm::SetVector<mlir::Value> operands_;
  llvm::SmallVector<mlir::Value> results_;
};

class FormMicrobatchMapPass : public impl::FormMicrobatchMapPassBase<FormMicrobatchMapPass> {
 public:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    mlir::func::FuncOp step = StepFunction(module);
    if (!step) return;
    CopyReadInputs(step);
    BatchAxis axis(step);
    if (axis.num_levels() == 0) return;
    absl::StatusOr<MachineModel> machine = MachineModelOf(module);
    if (!machine.ok()) {
      module->emitError() << std::string(machine.status().message());
      return signalPassFailure();
    }
    const exec::CompileConfigAttr config = ConfigOf(module);
    const int64_t batch = config.getBatch(), replicas = config.getReplicas();
    MicrobatchSizes sizes;
    auto one_microbatch_each = [&](const char* reason) {
      sizes.lanes = replicas;
      sizes.rows_per_lane = sizes.microbatch_rows = batch;
      sizes.reason = reason;
    };
    const bool has_lanes = TargetOf(module)->has_lanes();
    if (!has_lanes) {
      one_microbatch_each("one lane and microbatch per replica: a GPU computes all its rows at once");
    } else {
      const int64_t lanes = config.getLanes();
      if (absl::Status status = CheckLaneCount(lanes, replicas); !status.ok()) {
        module->emitError() << std::string(status.message());
        return signalPassFailure();
      }
      sizes =
          ChooseMicrobatchSizes(batch, replicas, lanes, config.getMicrobatchRows(), MeasureStep(step, axis), *machine);
    }
    if (mlir::Operation* op = axis.mixing_op()) {
      if (replicas > 1) {
        op->emitError() << "mixes rows of the batch, which is not possible across several devices: use one device";
        return signalPassFailure();
      }
      if (has_lanes) {
        op->emitWarning()
            << "mixes rows of the batch: the whole batch of a replica runs as one microbatch, on one thread";
      }
      one_microbatch_each("one lane and microbatch per replica, because an op mixes rows of the batch");
    }
    module->setAttr("exec.microbatch_choice", mlir::StringAttr::get(&getContext(), sizes.reason));
    Rebuild(step, axis, sizes);
  }

 private:
  // Inserts copies of inputs that are fetched, or read at the top level. The copies are computed in a map, so that such
  // inputs are kept like other results of maps.
  static void CopyReadInputs(mlir::func::FuncOp step) {
    for (mlir::Operation& op : llvm::make_early_inc_range(step.getBody().front())) {
      if (!KeepsOperands(&op)) continue;
      mlir::OpBuilder builder(&op);
      for (mlir::OpOperand& operand : op.getOpOperands()) {
        mlir::Value v = operand.get();
        if (!v.getDefiningOp() && td::IsBatched(v.getType()))
          operand.set(builder.create<exec::CopyOp>(v.getLoc(), v.getType(), v));
      }
    }
  }

  // True if the op reads all rows of batched operands outside of maps, so that maps must keep these rows.
  static bool KeepsOperands(mlir::Operation* op) {
    return op->hasTrait<mlir::OpTrait::IsTerminator>() || BatchAxis::ReadsAllRows(op);
  }

  void Rebuild(mlir::func::FuncOp step, const BatchAxis& axis, MicrobatchSizes sizes) {
    mlir::Block& old_body = step.getBody().front();
    mlir::Block* body = new mlir::Block;
    step.getBody().push_back(body);
    mlir::IRMapping map;
    for (mlir::BlockArgument a : old_body.getArguments()) map.map(a, body->addArgument(a.getType(), a.getLoc()));
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(body);
    for (int level = 0; level <= axis.num_levels(); ++level) {
      llvm::SmallVector<mlir::Operation*> map_ops;
      for (mlir::Operation& op : old_body.without_terminator()) {
        if (axis.Level(&op) != level) continue;
        if (!axis.IsMapOp(&op)) {
          builder.clone(op, map);
        } else if (!axis.CreatesBatch(&op) || IsKept(&op)) {
          map_ops.push_back(&op);
        }
      }
      if (!map_ops.empty()) MapBuilder(axis, level, sizes, builder, map).Build(map_ops, step.getLoc());
    }
    builder.clone(*old_body.getTerminator(), map);
    old_body.dropAllUses();
    for (mlir::Operation& op : old_body) op.dropAllReferences();
    old_body.erase();
  }

  static bool IsKept(mlir::Operation* op) { return llvm::any_of(op->getUsers(), KeepsOperands); }
};

}  // namespace

}  // namespace tandem
