// td-block-weight-grads: takes large weight gradients of dense layers out of the lanes.
//
// In a map every lane writes a whole weight gradient into its slot, and all slots are then read to be combined: for a
// matrix of 1024 x 1024 and a batch of 128 that takes longer than the multiplications. td.weight_grad stands behind the
// map instead, which keeps the operands; any thread computes any block of the result, lane by lane, and combines the
// lanes while the block is in the first-level cache. Before: decomposed ops, no shard map yet. After: td.matmul that
// sums float32 products over the batch is td.weight_grad where its result is large and its operands, which now have to
// be kept for the whole batch, are at most twice as large: four lanes and more would write and read it. The choice
// depends on the global batch, not on devices. Programs for GPUs keep theirs: they have one lane.
//
//   %dw = td.matmul %x, %dy {transpose_a = true} : tensor<?x1024xf32>, tensor<?x1024xf32> -> tensor<1024x1024xf32>
//     =>   %dw = td.weight_grad %x, %dy : tensor<?x1024xf32>, tensor<?x1024xf32> -> tensor<1024x1024xf32>
#include "passes/block_weight_grads.h"

#include "graph/ir/contract.h"
#include "graph/ir/reference_util.h"
#include "passes/pass_util.h"
#include "passes/target.h"

namespace tandem {
namespace {

// Smaller results stay in the cache of the core that makes them.
constexpr int64_t kMinElements = 1 << 16;
// Rows of the result that a kernel computes together with few columns would leave registers empty.
constexpr int64_t kMinColumns = 32;

class BlockWeightGradsPass : public ModulePass<BlockWeightGradsPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BlockWeightGradsPass)
  static constexpr llvm::StringLiteral kName = "td-block-weight-grads";
  static constexpr llvm::StringLiteral kDescription = "compute large weight gradients block by block behind the maps";

  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step || IsGpuTarget(getOperation())) return;
    const int64_t batch = ModuleInt(getOperation(), "td.batch", 32) * ModuleInt(getOperation(), "td.replicas", 1);
    for (auto op : llvm::make_early_inc_range(step.getOps<td::MatMulOp>())) {
      if (!Pays(op, batch)) continue;
      mlir::OpBuilder b(op);
      op.replaceAllUsesWith(b.create<td::WeightGradOp>(op.getLoc(), op.getA(), op.getB()).getResult());
      op.erase();
    }
  }

 private:
  static bool Pays(td::MatMulOp op, int64_t batch) {
    auto result = mlir::cast<mlir::RankedTensorType>(op.getType());
    if (!op.getTransposeA() || op.getTransposeB() || result.getRank() != 2) return false;
    if (!td::IsBatched(op.getA().getType()) || !td::IsBatched(op.getB().getType())) return false;
    if (!result.getElementType().isF32() || !mlir::getElementTypeOrSelf(op.getA().getType()).isF32()) return false;
    const int64_t elements = result.getNumElements();
    if (elements < kMinElements || result.getDimSize(1) < kMinColumns) return false;
    // What lanes would write and read again, against what has to be kept.
    const int64_t kept = batch * (td::RowElements(op.getA().getType()) + td::RowElements(op.getB().getType()));
    return kept <= 2 * elements;
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createBlockWeightGradsPass() { return std::make_unique<BlockWeightGradsPass>(); }

}  // namespace tandem
