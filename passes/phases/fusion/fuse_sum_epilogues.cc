// td-fuse-sum-epilogues: computes what follows from sums over the batch in the kernel that adds them up
// (passes/Passes.td).
#include <optional>

#include "graph/ir/interfaces.h"
#include "graph/ir/register_type.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/codegen/reduction.h"
#include "passes/exec/kernel_kind.h"
#include "passes/phases/fusion/elementwise_kernel.h"
#include "passes/phases/fusion/fusion_clusters.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_FUSESUMEPILOGUESPASS
#include "passes/passes.h.inc"

namespace {

bool IsCluster(mlir::func::FuncOp kernel) {
  return kernel && exec::GetKernelKind(kernel) == exec::KernelKind::kCluster;
}

bool UpdatesVariables(mlir::func::FuncOp kernel) {
  return kernel
      ->walk([](td::TiedOp op) {
        return op.getTiedOperand(0) >= 0 ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

mlir::Operation* Terminator(mlir::func::FuncOp kernel) { return kernel.getBody().front().getTerminator(); }

// True for a sum (or maximum) over the batch in full precision.
bool IsSum(mlir::Value v) {
  mlir::Operation* op = v.getDefiningOp();
  const std::optional<Reduction> reduction = ReductionOf(op);
  if (!reduction || reduction->taps > 0) return false;
  if (td::IsBatched(v.getType()) || !td::IsBatched(op->getOperand(0).getType())) return false;
  const mlir::Type element = mlir::getElementTypeOrSelf(v.getType());
  return td::RegisterType(element) == element;
}

class FuseSumEpiloguesPass : public impl::FuseSumEpiloguesPassBase<FuseSumEpiloguesPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step || !TargetOf(getOperation())->has_costly_launches()) return;
    replicas_ = ConfigOf(getOperation()).getReplicas();
    symbols_.emplace(getOperation());
    for (auto launch : llvm::make_early_inc_range(step.getOps<exec::LaunchOp>())) {
      Match match;
      if (Find(launch, match)) Fuse(launch, match);
    }
  }

 private:
  struct Match {
    exec::MapMicrobatchesOp map;          // the last map whose results the launch reads
    exec::LaunchOp sums;                  // the launch in that map that computes the sums
    mlir::func::FuncOp kernel, epilogue;  // kernels of `sums` and of the launch
    // For each operand of the launch: if it is one of the sums, the number of the result of `kernel` that it is.
    llvm::SmallVector<std::optional<int>> sum;
    td::BatchScope scope = td::BatchScope::kReplica;
  };

  bool Find(exec::LaunchOp launch, Match& match) {
    match.epilogue = symbols_->lookup<mlir::func::FuncOp>(launch.getKernel());
    if (!IsCluster(match.epilogue) || UpdatesVariables(match.epilogue)) return false;
    const std::optional<llvm::ArrayRef<int64_t>> shape = ElementwiseShape(match.epilogue);
    if (!shape) return false;
    for (mlir::Value v : launch.getOperands()) {
      auto map = v.getDefiningOp<exec::MapMicrobatchesOp>();
      if (map && (!match.map || match.map->isBeforeInBlock(map))) match.map = map;
    }
    // Only a map with a single microbatch per replica will do: its sums are final.
    if (!match.map || static_cast<int64_t>(match.map.getLanes()) != replicas_ ||
        match.map.getRowsPerLane() != match.map.getMicrobatchRows()) {
      return false;
    }
    auto yield = mlir::cast<exec::YieldOp>(match.map.getBody().front().getTerminator());
    for (mlir::Value v : launch.getOperands()) {
      match.sum.emplace_back();
      mlir::Operation* op = v.getDefiningOp();
      if (op != match.map.getOperation()) {
        if (op != nullptr && !op->isBeforeInBlock(match.map)) return false;
        continue;
      }
      const unsigned r = mlir::cast<mlir::OpResult>(v).getResultNumber();
      auto result = mlir::dyn_cast<mlir::OpResult>(yield.getOperand(r));
      auto sums = result ? mlir::dyn_cast<exec::LaunchOp>(result.getOwner()) : exec::LaunchOp();
      if (!sums || (match.sums && match.sums != sums)) return false;
      match.sums = sums;
      match.kernel = symbols_->lookup<mlir::func::FuncOp>(sums.getKernel());
      if (!IsCluster(match.kernel)) return false;
      if (!IsSum(Terminator(match.kernel)->getOperand(result.getResultNumber()))) return false;
      if (td::TypeOf(v).getShape() != *shape) return false;
      match.sum.back() = result.getResultNumber();
      match.scope = match.map.getScopeOf(r);
    }
    const unsigned buffers = match.kernel.getNumArguments() + match.kernel.getNumResults() +
                             match.epilogue.getNumArguments() + match.epilogue.getNumResults();
    return buffers <= kMaxKernelBuffers;
  }

  void Fuse(exec::LaunchOp launch, Match& match) {
    mlir::Block& body = match.map.getBody().front();
    // Collects the operands of the fused kernel: those of `sums`, and those of the launch that are not sums.
    llvm::SmallVector<mlir::Value> operands(match.sums.getOperands()), map_operands(match.map.getOperands());
    mlir::IRMapping inside;
    for (auto [i, v] : llvm::enumerate(launch.getOperands())) {
      mlir::Value argument = match.epilogue.getArgument(i);
      if (match.sum[i]) {
        inside.map(argument, Terminator(match.kernel)->getOperand(*match.sum[i]));
        continue;
      }
      const auto known = llvm::find(map_operands, v);
      const unsigned place = known - map_operands.begin();
      if (known == map_operands.end()) {
        map_operands.push_back(v);
        body.addArgument(v.getType(), v.getLoc());
      }
      const auto read = llvm::find(operands, mlir::Value(body.getArgument(place)));
      const unsigned number = read - operands.begin();
      if (read == operands.end()) {
        operands.push_back(body.getArgument(place));
        match.kernel.getBody().front().addArgument(v.getType(), argument.getLoc());
      }
      inside.map(argument, match.kernel.getBody().front().getArgument(number));
    }
    ExtendKernel(match, inside);
    exec::LaunchOp sums = ReplaceSums(match, operands);
    ReplaceMap(launch, match, map_operands, sums);
    launch.erase();
    symbols_->erase(match.epilogue);
  }

  static void ExtendKernel(Match& match, mlir::IRMapping& inside) {
    mlir::Operation* end = Terminator(match.kernel);
    mlir::OpBuilder b(end);
    for (mlir::Operation& op : match.epilogue.getBody().front().without_terminator()) b.clone(op, inside);
    llvm::SmallVector<mlir::Value> results(end->getOperands());
    for (mlir::Value v : Terminator(match.epilogue)->getOperands()) results.push_back(inside.lookup(v));
    end->setOperands(results);
    match.kernel.setFunctionType(
        b.getFunctionType(match.kernel.getBody().front().getArgumentTypes(), mlir::ValueRange(results).getTypes()));
  }

  static exec::LaunchOp ReplaceSums(Match& match, mlir::ValueRange operands) {
    mlir::OpBuilder b(match.sums);
    auto sums = b.create<exec::LaunchOp>(match.sums.getLoc(), match.kernel.getResultTypes(), match.kernel.getSymName(),
                                         operands);
    match.sums->replaceAllUsesWith(sums.getResults().take_front(match.sums->getNumResults()));
    match.sums.erase();
    return sums;
  }

  // Replaces the map by one that also yields the launch's results.
  static void ReplaceMap(exec::LaunchOp launch, Match& match, mlir::ValueRange operands, exec::LaunchOp sums) {
    exec::MapMicrobatchesOp map = match.map;
    mlir::OpBuilder b(map);
    const unsigned more = launch.getNumResults();
    llvm::SmallVector<mlir::Type> types(map->getResultTypes());
    types.append(launch->result_type_begin(), launch->result_type_end());
    llvm::SmallVector<mlir::Attribute> combines(map.getReduce().getValue()), scopes(map.getScope().getValue());
    combines.append(more, exec::CombineAttr::get(b.getContext(), exec::Combine::kSum));
    scopes.append(more, td::BatchScopeAttr::get(b.getContext(), match.scope));
    auto wider = b.create<exec::MapMicrobatchesOp>(map.getLoc(), types, operands, b.getArrayAttr(combines),
                                                   b.getArrayAttr(scopes), map.getLanes(), map.getRowsPerLane(),
                                                   map.getMicrobatchRows());
    wider->setDiscardableAttrs(map->getDiscardableAttrDictionary());
    wider.getBody().takeBody(map.getBody());
    auto yield = mlir::cast<exec::YieldOp>(wider.getBody().front().getTerminator());
    yield->insertOperands(yield->getNumOperands(), sums.getResults().take_back(more));
    map->replaceAllUsesWith(wider.getResults().drop_back(more));
    launch->replaceAllUsesWith(wider.getResults().take_back(more));
    map.erase();
  }

  int64_t replicas_ = 1;
  std::optional<mlir::SymbolTable> symbols_;
};

}  // namespace

}  // namespace tandem
