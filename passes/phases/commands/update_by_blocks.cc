// td-update-by-blocks: lets commands check and use a weight gradient in blocks of rows, as they are computed
// (passes/Passes.td).
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/phases/commands/commands.h"
#include "runtime/commands/block_kernel.h"

namespace tandem {

#define GEN_PASS_DEF_UPDATEBYBLOCKSPASS
#include "passes/passes.h.inc"

namespace {

class UpdateByBlocksPass : public impl::UpdateByBlocksPassBase<UpdateByBlocksPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = CpuStep(getOperation());
    if (!step || ConfigOf(getOperation()).getReplicas() > 1) return;
    const Places places(getOperation());
    for (auto launch : step.getOps<exec::LaunchOp>()) {
      if (LaunchedDomain(launch) != format::Domain::kBlocks) continue;
      if (exec::BlockUpdateAttr update = Find(places, step, launch)) SetBlockUpdate(launch, update);
    }
  }

 private:
  // Returns by which commands the gradient of `launch` can be checked and used in blocks of rows, as they are computed.
  // Null if anything reads the gradient but one finite check and then one member of one grouped update, or if it is no
  // matrix. Null also if a map lies in between: the update reads the gradient's operands, which the map might
  // overwrite.
  static exec::BlockUpdateAttr Find(const Places& places, mlir::func::FuncOp step, exec::LaunchOp launch) {
    mlir::Value gradient = launch->getResult(0);
    auto type = mlir::cast<mlir::RankedTensorType>(gradient.getType());
    if (type.getRank() != 2 || !type.getElementType().isF32()) return nullptr;
    mlir::OpOperand *check = nullptr, *update = nullptr;
    for (mlir::OpOperand& use : gradient.getUses()) {
      mlir::OpOperand*& known = mlir::isa<exec::CheckFiniteOp>(use.getOwner()) ? check : update;
      if (known != nullptr) return nullptr;
      known = &use;
    }
    if (check == nullptr || update == nullptr) return nullptr;
    auto group = mlir::dyn_cast<exec::GroupedLaunchOp>(update->getOwner());
    if (!group || !check->getOwner()->isBeforeInBlock(group) || !launch->isBeforeInBlock(check->getOwner())) {
      return nullptr;
    }
    for (mlir::Operation* op = launch->getNextNode(); op != group; op = op->getNextNode()) {
      if (mlir::isa<exec::MapMicrobatchesOp>(op)) return nullptr;
    }
    if (IsReadElsewhere(places, step, launch, check->getOwner(), group)) return nullptr;

    const int64_t members = static_cast<int64_t>(group.getMembers());
    const int64_t operands = group->getNumOperands() / members, results = group->getNumResults() / members;
    const int64_t member = update->getOperandNumber() / operands, argument = update->getOperandNumber() % operands;
    if (!IsLike(group->getResult(member * results).getType(), type)) return nullptr;
    llvm::SmallVector<int64_t> fetched;
    for (int64_t i = 0; i < operands + results && fetched.size() < kFetchedMatrices; ++i) {
      mlir::Value v =
          i < operands ? group->getOperand(member * operands + i) : group->getResult(member * results + i - operands);
      if (i != argument && IsLike(v.getType(), type)) fetched.push_back(i);
    }
    mlir::MLIRContext* context = step.getContext();
    return exec::BlockUpdateAttr::get(context, check->getOperandNumber(), member, argument,
                                      mlir::DenseI64ArrayAttr::get(context, fetched));
  }

  static bool IsLike(mlir::Type type, mlir::RankedTensorType matrix) {
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    return tensor.getElementType() == matrix.getElementType() && tensor.getNumElements() == matrix.getNumElements();
  }

  // True if a command after `launch`, other than the check and the update, reads the gradient's memory, even if it
  // holds another value then.
  static bool IsReadElsewhere(const Places& places, mlir::func::FuncOp step, exec::LaunchOp launch,
                              mlir::Operation* check, mlir::Operation* update) {
    const Place place = places.Of(launch->getResult(0));
    if (place.space != exec::Space::kStep) return true;
    mlir::Block& block = step.getBody().front();
    for (mlir::Operation* op = launch->getNextNode(); op != nullptr; op = op->getNextNode()) {
      if (op == check || op == update || (!IsCommand(*op) && op != block.getTerminator())) continue;
      for (mlir::Value v : op->getOperands()) {
        if (places.Of(v).Overlaps(place)) return true;
      }
    }
    return false;
  }
};

}  // namespace

}  // namespace tandem
