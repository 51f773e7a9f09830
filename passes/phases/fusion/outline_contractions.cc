// td-outline-contractions: makes a kernel of each contraction that has an emitter of its own (passes/Passes.td).
#include "graph/ir/attention.h"
#include "graph/ir/contract.h"
#include "graph/ir/unary.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/base/channel_bias.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/exec/attention.h"
#include "passes/exec/contraction.h"
#include "passes/exec/kernel_kind.h"
#include "passes/exec/winograd.h"

namespace tandem {

#define GEN_PASS_DEF_OUTLINECONTRACTIONSPASS
#include "passes/passes.h.inc"

namespace {

class OutlineContractionsPass : public impl::OutlineContractionsPassBase<OutlineContractionsPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    mlir::SymbolTable symbols(getOperation());
    const auto is_tiled = [](mlir::Operation* op) {
      return IsAttention(op) || IsPacked(op) ||
             mlir::isa<exec::WinogradKernelOp, exec::WinogradConv2DOp, exec::WinogradInputGradOp,
                       exec::WinogradFilterGradOp>(op);
    };
    for (mlir::Operation* op : Ops(step, is_tiled)) {
      const bool rows = llvm::any_of(op->getOperandTypes(), td::IsBatched);
      Outline({op}, op->getOperands(), KernelName(op), rows ? exec::KernelKind::kTile : exec::KernelKind::kSplit,
              symbols);
    }
    OutlineWeightGrads(step, symbols);
    const auto is_own_kernel = [](mlir::Operation* op) {
      return exec::IsContraction(op, exec::ContractionKind::kConv2D, exec::Algorithm::kLowChannel);
    };
    for (mlir::Operation* op : Ops(step, is_own_kernel)) OutlineDirect(op, symbols);
  }

 private:
  // True for attention as CPUs compute it (exec ops, with scratch memory) and as GPUs do (td ops, without).
  static bool IsAttention(mlir::Operation* op) {
    return mlir::isa<exec::AttentionOp, exec::AttentionGradOp, td::AttentionOp, td::AttentionGradOp>(op);
  }

  static bool IsPacked(mlir::Operation* op) {
    return exec::IsContraction(op, exec::ContractionKind::kConv2DFilterGrad, exec::Algorithm::kFilterGradTiles);
  }

  static llvm::StringRef KernelName(mlir::Operation* op) {
    if (IsAttention(op)) return "attention";
    return IsPacked(op) ? "packed" : "winograd";
  }

  static llvm::SmallVector<mlir::Operation*> Ops(mlir::func::FuncOp step,
                                                 llvm::function_ref<bool(mlir::Operation*)> wanted) {
    llvm::SmallVector<mlir::Operation*> ops;
    step.walk([&](mlir::Operation* op) {
      if (wanted(op)) ops.push_back(op);
    });
    return ops;
  }

  // Moves `ops` into a new kernel with `operands` and launches it. Each op reads only operands and results of ops
  // before it; the last op's results are those of the kernel.
  static void Outline(llvm::ArrayRef<mlir::Operation*> ops, mlir::ValueRange operands, llvm::StringRef name,
                      exec::KernelKind kind, mlir::SymbolTable& symbols) {
    mlir::Operation* last = ops.back();
    mlir::Location loc = last->getLoc();
    mlir::OpBuilder b(last->getContext());
    auto function =
        mlir::func::FuncOp::create(loc, name, b.getFunctionType(operands.getTypes(), last->getResultTypes()));
    function.setPrivate();
    exec::SetKernelKind(function, kind);
    mlir::Block* body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    mlir::IRMapping map;
    map.map(operands, body->getArguments());
    mlir::Operation* inside = nullptr;
    for (mlir::Operation* op : ops) inside = b.clone(*op, map);
    b.create<mlir::func::ReturnOp>(loc, inside->getResults());
    symbols.insert(function);
    b.setInsertionPoint(last);
    last->replaceAllUsesWith(b.create<exec::LaunchOp>(loc, last->getResultTypes(), function.getSymName(), operands));
    for (mlir::Operation* op : llvm::reverse(ops)) {
      if (op->use_empty()) op->erase();
    }
  }

  // Makes kernels of the weight gradients at the top level. These kernels loop over the lanes themselves, so they get
  // the number of lanes and of a lane's rows.
  static void OutlineWeightGrads(mlir::func::FuncOp step, mlir::SymbolTable& symbols) {
    const exec::CompileConfigAttr config = ConfigOf(step->getParentOfType<mlir::ModuleOp>());
    int64_t lanes = 1, lane_rows = config.getBatch();
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) {
      lanes = map.getLanes() / config.getReplicas();
      lane_rows = map.getRowsPerLane();
    }
    for (auto op : llvm::make_early_inc_range(step.getOps<exec::ContractionOp>())) {
      if (op.getAlgorithm() != exec::Algorithm::kWeightGradBlocks) continue;
      op.setLanes(lanes);
      op.setLaneRows(lane_rows);
      Outline({op.getOperation()}, op->getOperands(), "weight_grad", exec::KernelKind::kBlock, symbols);
    }
  }

  // Makes a kernel of a direct convolution, with a bias and a relu that follow it if nothing else reads the values in
  // between.
  static void OutlineDirect(mlir::Operation* op, mlir::SymbolTable& symbols) {
    llvm::SmallVector<mlir::Operation*> chain = {op};
    llvm::SmallVector<mlir::Value> operands(op->getOperands());
    mlir::Value y = op->getResult(0);
    if (auto add = mlir::dyn_cast_or_null<td::AddOp>(OnlyUser(y))) {
      if (mlir::Value bias = ChannelBiasOf(add, y)) {
        operands.push_back(bias);
        chain.push_back(add->getOperand(add->getOperand(0) == y ? 1 : 0).getDefiningOp());
        chain.push_back(add);
      }
    }
    if (auto relu = mlir::dyn_cast_or_null<td::ReluOp>(OnlyUser(chain.back()->getResult(0)))) chain.push_back(relu);
    Outline(chain, operands, "direct_conv", exec::KernelKind::kLoop, symbols);
  }
};

}  // namespace

}  // namespace tandem
