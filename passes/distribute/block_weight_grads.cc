// td-block-weight-grads, as Passes.td describes it.
#include <algorithm>

#include "graph/ir/contract.h"
#include "graph/ir/reference_util.h"
#include "passes/analysis/cost_model.h"
#include "passes/analysis/measure_step.h"
#include "passes/analysis/winograd_cost.h"
#include "passes/codegen/conv_weight_grad_kernel.h"
#include "passes/codegen/weight_grad_kernel.h"
#include "passes/exec/weight_grad.h"
#include "passes/pass_util.h"
#include "passes/passes.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_BLOCKWEIGHTGRADSPASS
#include "passes/passes.h.inc"

namespace {

// Smaller results stay in the cache of the core that makes them.
constexpr int64_t kMinElements = 1 << 16;
// Rows of the result that a kernel computes together with few columns would leave registers empty.
constexpr int64_t kMinColumns = 32;
// A kernel's threads have stacks of some MiB.
constexpr int64_t kMaxDenseStackBytes = int64_t{1} << 19, kMaxImageStackBytes = 5 * (int64_t{1} << 18);
constexpr double kBlockRate = 0.9;  // of the library's rate; measured on ResNet-50's last stage
constexpr int64_t kShards = 8;      // of a step, which are not chosen yet

class BlockWeightGradsPass : public impl::BlockWeightGradsPassBase<BlockWeightGradsPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step || !TargetOf(getOperation())->generates_contractions()) return;
    absl::StatusOr<MachineModel> machine = MachineModelOf(getOperation());
    if (!machine.ok()) {
      getOperation()->emitError() << std::string(machine.status().message());
      return signalPassFailure();
    }
    const int64_t batch = ConfigOf(getOperation()).getBatch() * ConfigOf(getOperation()).getReplicas();
    for (auto op : llvm::make_early_inc_range(step.getOps<td::MatMulOp>())) {
      if (!IsProfitable(op, batch)) continue;
      mlir::OpBuilder b(op);
      op.replaceAllUsesWith(b.create<exec::WeightGradOp>(op.getLoc(), op.getA(), op.getB()).getResult());
      op.erase();
    }
    for (auto op : llvm::make_early_inc_range(step.getOps<td::Conv2DFilterGradOp>())) {
      if (!IsProfitable(op, batch, *machine)) continue;
      mlir::OpBuilder b(op);
      op.replaceAllUsesWith(b.create<exec::Conv2DWeightGradOp>(op.getLoc(), op.getX(), op.getDy(), op.getSize(),
                                                               op.getStrides(), op.getPadLow(), op.getPadHigh())
                                .getResult());
      op.erase();
    }
  }

 private:
  static bool IsProfitable(td::MatMulOp op, int64_t batch) {
    auto result = mlir::cast<mlir::RankedTensorType>(op.getType());
    if (!op.getTransposeA() || op.getTransposeB() || result.getRank() != 2) return false;
    if (!td::IsBatched(op.getA().getType()) || !td::IsBatched(op.getB().getType())) return false;
    if (!result.getElementType().isF32() || !mlir::getElementTypeOrSelf(op.getA().getType()).isF32()) return false;
    const int64_t elements = result.getNumElements();
    if (elements < kMinElements || result.getDimSize(1) < kMinColumns) return false;
    const int64_t depth = batch * (td::RowElements(op.getA().getType()) / result.getDimSize(0));
    if (WeightGradStackBytes(depth) > kMaxDenseStackBytes) return false;  // lanes round the batch up
    // What lanes would write and read again, against what has to be kept.
    const int64_t kept = batch * (td::RowElements(op.getA().getType()) + td::RowElements(op.getB().getType()));
    return kept <= 2 * elements;
  }

  // Pixels of dy along dimension `d` whose window's place `tap` is in the image.
  static int64_t PixelsInside(td::Conv2DFilterGradOp op, int d, int64_t tap) {
    const int64_t size = td::TypeOf(op.getX()).getDimSize(d + 1), out = td::TypeOf(op.getDy()).getDimSize(d + 1);
    int64_t inside = 0;
    for (int64_t i = 0; i < out; ++i) {
      const int64_t at = i * op.getStrides()[d] + tap - op.getPadLow()[d];
      inside += at >= 0 && at < size;
    }
    return inside;
  }

  bool IsProfitable(td::Conv2DFilterGradOp op, int64_t batch, const MachineModel& machine) {
    llvm::ArrayRef<int64_t> x = td::TypeOf(op.getX()).getShape(), dy = td::TypeOf(op.getDy()).getShape();
    for (mlir::Value v : {op.getX(), op.getDy(), op.getResult()}) {
      if (!mlir::getElementTypeOrSelf(v.getType()).isF32()) return false;
    }
    if (!td::IsBatched(op.getX().getType()) || !td::IsBatched(op.getDy().getType())) return false;
    const int64_t elements = td::TypeOf(op.getResult()).getNumElements();
    if (elements < kMinElements || dy[3] < kMinColumns) return false;
    const int64_t taps = op.getSize()[0] * op.getSize()[1];
    const int64_t stack = ConvWeightGradStackBytes(taps, batch * x[1] * x[2], batch * dy[1] * dy[2]);
    if (stack > kMaxImageStackBytes) return false;
    const int64_t kept = td::RowElements(op.getX().getType()) + td::RowElements(op.getDy().getType());
    if (batch * kept > 3 * elements) return false;

    // Seconds of a row.
    double pixels[2] = {0, 0};
    for (int d = 0; d < 2; ++d) {
      for (int64_t tap = 0; tap < op.getSize()[d]; ++tap) pixels[d] += static_cast<double>(PixelsInside(op, d, tap));
    }
    const double blocks =
        2 * pixels[0] * pixels[1] * static_cast<double>(x[3] * dy[3]) / (kBlockRate * machine.library_f32) +
        2 * 4 * static_cast<double>(kept) / machine.dram_bandwidth;
    const int64_t rows = std::max<int64_t>(2, batch / kShards);
    WinogradShape shape = {x[1], x[2], dy[1], dy[2], x[3], dy[3], op.getPadLow()[0], op.getPadLow()[1], 0, 0};
    const WinogradChoice choice = ChooseWinograd(machine, shape, WinogradRole::kFilterGrad, rows, kShards);
    const bool three = op.getSize()[0] == 3 && op.getSize()[1] == 3;
    double lanes = static_cast<double>(op.getFlops()) / machine.library_f32;
    if (three && op.getStrides()[0] == 1 && op.getStrides()[1] == 1 && !ConfigOf(getOperation()).isStrictFloat32()) {
      lanes = std::min(lanes, choice.winograd_seconds / static_cast<double>(rows));
    }
    // Written to a slot, read to be added up and to be combined with others. All lanes' slots are touched in turn, and
    // as many bytes of others between.
    const double slot_bytes = 4 * static_cast<double>(elements);
    lanes += 3 * slot_bytes / Bandwidth(machine, 2 * kShards * slot_bytes) / static_cast<double>(rows);
    return blocks < lanes;
  }
};

}  // namespace

}  // namespace tandem
